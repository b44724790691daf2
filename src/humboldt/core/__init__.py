"""Plain data types that all packages share. No input or output."""
