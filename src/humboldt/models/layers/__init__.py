"""Layers that have no state: linear, embeddings, attention, Transformer blocks."""
