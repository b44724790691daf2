"""The tasks of Delétang et al. (2023), *Neural networks and the Chomsky hierarchy*, appendix A.3."""
