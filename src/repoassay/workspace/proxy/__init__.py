"""The forward proxy to package indexes: named hosts and nothing else, for agents and for builds.

Knows which indexes the user has configured; not what is built or who visits.
"""
