"""The registered models, one file each."""
