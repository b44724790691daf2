"""Does somebody else's version of a Chomsky task mean what ours means? Golden vectors, and a checker that explains differences."""
