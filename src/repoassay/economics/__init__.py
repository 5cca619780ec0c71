"""What work is worth and what it cost: market value, quality, alpha. Pure functions, standard library alone.

Knows nothing of run folders or reports: it is given tasks, truth values, qualities and dollars.
"""
