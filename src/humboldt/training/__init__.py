"""Engines that train models, behind one interface (`base`). Imports models and batches, but no suites."""
