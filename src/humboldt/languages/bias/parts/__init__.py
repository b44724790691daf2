"""Shared by the tasks of `bias`."""
