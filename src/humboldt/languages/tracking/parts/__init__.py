"""Parts of the tracking tasks."""
