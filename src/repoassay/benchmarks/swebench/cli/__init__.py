"""The command `repoassay swebench`, for people who have predictions in SWE-bench's form."""
