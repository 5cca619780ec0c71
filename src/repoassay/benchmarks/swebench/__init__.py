"""SWE-bench: rows of its data sets whose tests pytest can run."""
