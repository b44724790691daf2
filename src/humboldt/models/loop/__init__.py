"""The loop over time that runs a cell, and its gradients."""
