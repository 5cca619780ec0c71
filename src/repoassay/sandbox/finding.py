"""What was found of one thing that this machine offers."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HostFinding"]


@dataclass(frozen=True, slots=True)
class HostFinding:
    """One thing looked at: `state` is `ok`, `degraded` (works, with less) or `missing` (something will not work)."""

    name: str
    state: str
    detail: str
    remedy: str = ""
