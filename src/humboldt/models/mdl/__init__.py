"""Networks by minimum description length: the graph, its code length, its search (Lan et al. 2022)."""
