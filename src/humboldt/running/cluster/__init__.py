"""Experiments on the machines of a Ray cluster. Importing this imports no Ray; running does."""
