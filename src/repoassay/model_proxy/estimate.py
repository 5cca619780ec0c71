"""How many tokens a prompt will be, told without the vendor's tokeniser and without a network.

The estimate counts the text of the request (message contents, tool descriptions, names and keys of JSON objects) at
3.6 bytes of ASCII a token and one token for every other character, 4 tokens for each object that has a role, and 1,000
for an embedded picture or file. That is a little more than vendors count for English (about 4.2 bytes a token) and
about what they count for code. As soon as the upstream has counted a prompt of the same attempt, later estimates are
corrected by the ratio of its count to ours, between a half and two.

Beside what is likely stands what is possible: no vendor makes more tokens of a text than it has bytes.
"""

from __future__ import annotations

from typing import Any

__all__ = ["LARGEST_PROMPT", "Estimator", "most_tokens", "raw_estimate"]

_BYTES_A_TOKEN = 3.6
_A_PICTURE = 1_000
_LARGEST_PICTURE = 50_000
LARGEST_PROMPT = 1_000_000
"""More than any context holds: a file of a few kilobytes may have hundreds of pages, or hours of sound."""
_LOOKED_AT = 4_096
_KINDS = ("media_type", "mime_type", "mimeType")
_NOT_PROMPT = frozenset(
    {"model", "stream", "stream_options", "metadata", "user", "store", "prompt_cache_key", "signature"}
)


def raw_estimate(body: dict[str, Any]) -> float:
    """Tokens of a request's prompt, uncorrected."""
    tokens = 0.0
    stack: list[Any] = [value for name, value in body.items() if name not in _NOT_PROMPT]
    # Deeper down these names are anybody's: a tool may have a parameter called metadata.
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            tokens += _text(value)
        elif isinstance(value, dict):
            if "role" in value:
                tokens += 4
            for name, inner in value.items():
                if name != "signature":
                    tokens += (len(name) + 4) / _BYTES_A_TOKEN / 2
                    if _is_embedded(name, inner, value):
                        tokens += _A_PICTURE  # counting the letters of base64 would refuse any picture
                    else:
                        stack.append(inner)
        elif isinstance(value, list):
            stack.extend(value)
        elif value is not None:
            tokens += 1
    return tokens


def most_tokens(body: dict[str, Any], size: int) -> int:
    """More tokens than any vendor makes of a prompt whose body has `size` bytes."""
    found, stack = size, [body]
    while stack:
        value: Any = stack.pop()
        if isinstance(value, dict):
            for name, inner in value.items():
                kinds = _media_types(name, inner, value)
                if not kinds:
                    stack.append(inner)
                found += max(map(_most_of, kinds), default=0)
        elif isinstance(value, list):
            stack.extend(value)
    return found


def _most_of(kind: str) -> int:
    """Tokens that a file of a media type may have beyond the bytes it takes."""
    if kind.startswith("text/"):
        return 0
    return _LARGEST_PICTURE if kind.startswith("image/") else LARGEST_PROMPT


def _media_types(name: str, inner: Any, holder: dict[str, Any]) -> tuple[str, ...]:
    """What kinds of file a field may hold, however it is written: a vendor reads one of several fields that say it."""
    if not isinstance(inner, str):
        return ()
    if name == "data":
        return tuple(str(holder[kind] or "?") for kind in _KINDS if kind in holder)
    scheme, _, rest = inner[:200].partition(":")
    if name == "file_data" or (name in ("url", "image_url") and scheme.lower() == "data"):
        return (rest or "?",)
    return ()


def _is_embedded(name: str, inner: Any, holder: dict[str, Any]) -> bool:
    """Whether a field is where one of the dialects has a picture or file; nothing is judged by how it looks alone."""
    if not isinstance(inner, str):
        return False
    if any(space in inner[:_LOOKED_AT] for space in " \n"):
        return False
    if name in ("url", "image_url", "file_data"):
        return inner.startswith("data:")
    return name == "data" and any(kind in holder for kind in _KINDS)


def _text(text: str) -> float:
    if text.isascii():
        return len(text) / _BYTES_A_TOKEN
    ascii_count = len(text.encode("ascii", "ignore"))
    return ascii_count / _BYTES_A_TOKEN + (len(text) - ascii_count)


class Estimator:
    """Estimates for one attempt, learning from the counts that come back."""

    def __init__(self) -> None:
        self._ratio = 1.0

    def correct(self, raw: float) -> int:
        """The corrected estimate, rounded up."""
        return int(raw * self._ratio) + 1

    def learn(self, raw: float, counted: int) -> None:
        """Take note of what the upstream counted for a prompt whose raw estimate was `raw`."""
        if raw >= 50 and counted > 0:
            self._ratio = min(2.0, max(0.5, counted / raw))
