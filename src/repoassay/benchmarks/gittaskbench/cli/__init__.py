"""The commands `gittaskbench grade` and `gittaskbench eval`, for users of the published package."""
