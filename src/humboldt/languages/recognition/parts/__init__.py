"""Parts of the recognition tasks."""
