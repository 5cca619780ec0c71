"""Sandboxes of another machine over HTTP: the protocol, and the side that asks. The server is another room's.

`messages.py` is the protocol, as docs/reference/sandbox-protocol.md describes it. What a server answers is read as
hostile: its size, its paths and its numbers are bounded here, and its word about how well it isolates raises no grade.
"""
