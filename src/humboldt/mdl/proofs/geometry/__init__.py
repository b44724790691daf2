"""Sets of states, and the steps of networks on them: the mathematics of the proofs."""
