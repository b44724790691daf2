"""Recurrent cells: one time step of a recurrent network."""
