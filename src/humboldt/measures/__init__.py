"""Pure functions from predictions and truth to a value."""
