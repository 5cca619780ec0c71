"""Recipes of environments, inferred from a repository's own files: which Python, which packages, how it is installed.

Files are read and never run; what they say is a stranger's word and ends up in a sandbox alone.
"""
