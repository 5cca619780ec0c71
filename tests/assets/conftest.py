"""Assets are read by tests; none is a test of this project."""

from __future__ import annotations

collect_ignore_glob = ["*"]
