"""Networks that read a source and write a target, each on a time axis of its own."""
