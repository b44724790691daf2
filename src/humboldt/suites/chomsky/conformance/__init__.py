"""Golden vectors of the Chomsky tasks, and a checker that explains how somebody else's version of a task differs."""
