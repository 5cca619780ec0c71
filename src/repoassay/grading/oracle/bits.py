"""What a forger would have to guess, in bits. A stub until guesses.py lands."""
