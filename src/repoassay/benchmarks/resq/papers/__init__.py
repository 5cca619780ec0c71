"""Published results of RES-Q as data."""
