"""Trains and evaluates many members in one compiled JAX program."""
