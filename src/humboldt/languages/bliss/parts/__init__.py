"""Shared by the languages of `bliss`."""
