"""Models and programs from outside Humboldt: scores and checks them, and exports batches and tasks."""
