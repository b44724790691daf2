"""Studies: planned, estimated, run here or on a cluster, resumed."""
