"""The corpus of PCFG SET and the parts of its tests."""
