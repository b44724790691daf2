"""Whole networks for one example: what `build` of a registered model returns."""
