"""Training: engines behind one seam (`base`). Knows models and batches, no suites."""
