"""Shared by the tasks of `chomsky`."""
