"""Pure functions from predictions and truth to values. NumPy, and SciPy for statistics."""
