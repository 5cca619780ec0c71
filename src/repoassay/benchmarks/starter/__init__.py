"""The starter suite: small tasks of every kind, made for this package."""
