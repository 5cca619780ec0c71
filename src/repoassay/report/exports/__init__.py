"""Runs and suites in formats of the field's other tools, a format a module; each enters as an entry point.

None works a figure out that is not the run's own, and none puts a patch, a prompt or an answer where a format only asks
for figures.
"""

from __future__ import annotations
