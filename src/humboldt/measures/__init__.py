"""Pure functions from predictions and truth to values. NumPy and Numba only."""
