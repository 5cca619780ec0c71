"""A suite of one task: the folder of this file, with suite.toml."""
