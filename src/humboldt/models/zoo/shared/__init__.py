"""Settings that several models share. Nothing here imports JAX."""
