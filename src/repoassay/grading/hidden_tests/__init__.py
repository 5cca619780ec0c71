"""Hidden tests: run in a sandbox, reported over a signed channel, checked by canaries."""
