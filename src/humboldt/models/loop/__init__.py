"""A cell over many time steps, and its gradients."""
