"""What the hidden tests look at on the base commit, and verdicts on patches that change nothing of it."""
