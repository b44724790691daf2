"""Golden vectors of the Chomsky tasks, and a checker that explains how another implementation of a task differs."""
