"""Tables for people and programs. Reads results and the published numbers, nothing else."""
