"""The fixtures of sandboxes, for tests of workspaces."""

from __future__ import annotations

from sandbox.conftest import (
    cache,
    inside,
    marked,
    plain,
    pytest_generate_tests,
    remote,
    sandbox,
    tree,
    watched,
)

__all__ = ["cache", "inside", "marked", "plain", "pytest_generate_tests", "remote", "sandbox", "tree", "watched"]
