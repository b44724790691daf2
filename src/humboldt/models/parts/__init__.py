"""What the registered models are made of."""
