"""Training PyTorch modules. Only `humboldt.training.engines.torch` imports this."""
