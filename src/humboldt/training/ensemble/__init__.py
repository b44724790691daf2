"""Many members in one compiled JAX program."""
