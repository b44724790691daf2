"""Trains PyTorch modules. Imported only by `humboldt.training.engines.torch`."""
