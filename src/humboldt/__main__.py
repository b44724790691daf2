"""Runs the command line: `python -m humboldt`."""

from humboldt.cli import main

main()
