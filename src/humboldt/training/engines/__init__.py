"""Engines: each file trains members in its own way and registers itself under its name."""
