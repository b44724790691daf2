"""Attention as one kernel, for the positions, sizes and devices for which there is one."""
