"""The loop over time as one kernel, for the cells, sizes and devices for which there is one."""
