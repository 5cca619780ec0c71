"""The suite of pull requests: issues to be solved as a maintainer would merge them."""
