"""The benchmarks that come with the package, a folder each. They enter as a plug-in of an outsider does.

Each folder's `plugin.py` holds what the entry points of pyproject.toml name. No other room imports this one, but
`repoassay.resq`, the published name of RES-Q's classes.
"""
