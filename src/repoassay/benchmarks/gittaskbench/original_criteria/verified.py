"""How the published scripts look at an image file before they measure it."""

from __future__ import annotations

import io
from pathlib import Path

from repoassay.grading import UnreadableOutput, content, mapped, need

__all__ = ["IMAGES", "verified"]

IMAGES = (".png", ".jpg", ".jpeg", ".webp")
"""The suffixes that the scripts accept, in either case."""


def verified(path: Path, suffixes: tuple[str, ...] = ()) -> None:
    """Existence, size, suffix and Pillow's verification, which reads no pixels.

    Raises:
        UnreadableOutput: When one of them does not hold; the scripts then say that Process is false.
    """
    if suffixes and path.suffix.lower() not in suffixes:
        raise UnreadableOutput(f"its suffix {path.suffix or '(none)'} is not one of {', '.join(suffixes)}")
    data = content(path, 256 * 2**20)
    image = need("PIL.Image")
    with mapped("an image"), image.open(io.BytesIO(data)) as opened:
        opened.verify()
