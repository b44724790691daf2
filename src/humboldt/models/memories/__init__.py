"""Memories that a cell can hold: stacks, tapes, the nondeterministic stack."""
