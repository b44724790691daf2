"""Ensembles: many members in one compiled program. Knows models and batches, no suites."""
