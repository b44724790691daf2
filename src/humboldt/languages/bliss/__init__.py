"""The languages of Lan et al. (2023), *Benchmarking neural network generalization for grammar induction* (BLISS)."""
