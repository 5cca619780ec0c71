"""Tasks out of a whole history: which commits are tried, what an agent is told of each, and what became of each."""
