"""Everything that touches a disk: results, weights, checkpoints, locks, and files of examples."""
