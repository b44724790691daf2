"""Description-length networks."""
