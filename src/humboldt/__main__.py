"""`python -m humboldt` is the command `humboldt`."""

from humboldt.cli import main

main()
