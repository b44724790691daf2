"""Sequence mixers: layers that carry a state along a sequence of vectors, all at once or one vector at a time."""
