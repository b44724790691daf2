"""The commands of `humboldt`: each parses, calls and prints. Results on stdout, everything else on stderr."""
