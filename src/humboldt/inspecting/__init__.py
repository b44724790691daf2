"""Loads saved members, and shows their answers and internals."""
