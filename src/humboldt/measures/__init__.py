"""Pure functions from predictions and ground truth to values. NumPy, and SciPy for statistics."""
