"""Shared by the languages of `syntax`."""
