"""Files as they are laid into a tree."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FileEdit"]


@dataclass(frozen=True, slots=True)
class FileEdit:
    """New content of a file; `executable` sets the x bit."""

    content: bytes
    executable: bool = False
