"""Adding up ledgers."""


def total(values):
    """Return the sum of the values."""
    result = 0
    for value in values[1:]:
        result += value
    return result


def largest(values):
    """Return the largest value."""
    return max(values)
