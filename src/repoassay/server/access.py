"""Who may come in, and how often: bearer tokens, where we listen, requests a minute."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import ipaddress
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.text import printable, quote

__all__ = ["NOBODY", "FairShares", "RateLimit", "Tokens", "check_bind", "is_loopback", "parse_rate", "read_tokens"]

NOBODY = ""
"""Who everybody is where no tokens are asked for."""

_HASHED = re.compile(r"sha256:([0-9a-fA-F]{64})")
_WEIGHT = re.compile(r"weight=(100|[1-9][0-9]?)")
_SHORTEST = 16
_MAX_FILE = 2**20


class Tokens:
    """Tokens as sha256 digests.

    Args:
        digests: Of every token that is let in; empty lets everybody in.
        weights: Turns for each one of another token, by digest, where it is not 1.
    """

    def __init__(self, digests: tuple[bytes, ...] = (), weights: Mapping[bytes, int] | None = None) -> None:
        self._digests = digests
        self._weights = {_holder_name(digest): weight for digest, weight in (weights or {}).items()}

    def __bool__(self) -> bool:
        return bool(self._digests)

    def __len__(self) -> int:
        return len(self._digests)

    def holder(self, token: str | None) -> str | None:
        """Who holds a token, as a name that gives nothing away; None for nobody we know.

        Every token is compared in full, so that the time taken says nothing.
        """
        if not self._digests:
            return NOBODY
        digest = hashlib.sha256((token or "").encode("utf-8", "surrogateescape")).digest()
        found = None
        for known in self._digests:
            if hmac.compare_digest(digest, known):
                found = _holder_name(known)
        return found

    def weight(self, holder: str) -> int:
        """How many turns a holder has for each one of a holder of weight 1."""
        return self._weights.get(holder, 1)


def _holder_name(digest: bytes) -> str:
    return digest.hex()[:16]


def read_tokens(path: Path) -> Tokens:
    """Read a file with a token on each line, plain or as `sha256:` and 64 hex digits; `#` begins a comment.

    After a token may stand `weight=N`, 1 to 100.

    Raises:
        BadInput: When the file cannot be read or holds something else.
    """
    place = printable(str(path), 500)
    try:
        with path.open("rb") as stream:  # may be a link, as mounted secrets are
            text = stream.read(_MAX_FILE).decode("ascii")
    except OSError as error:
        raise BadInput(f"The token file {place} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise BadInput(f"The token file {place} is not plain ASCII text of at most 1 MiB.") from error
    digests: dict[bytes, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        token, *further = line.split() or [""]
        if not token or token.startswith("#"):
            continue
        hashed = _HASHED.fullmatch(token)
        if not hashed and (len(token) < _SHORTEST or not re.fullmatch(r"[!-~]+", token) or token.startswith("sha256:")):
            raise BadInput(
                f"Line {number} of the token file {place} is not a token.",
                f"Write at least {_SHORTEST} characters without spaces, or sha256: and the 64 hex digits of its hash.",
            )
        weights = [_WEIGHT.fullmatch(each) for each in further]
        if len(weights) > 1 or None in weights:
            raise BadInput(
                f"What follows the token on line {number} of the token file {place} cannot be read.",
                "Write nothing there, or weight=N with a number from 1 to 100.",
            )
        digest = bytes.fromhex(hashed[1]) if hashed else hashlib.sha256(token.encode()).digest()
        digests.setdefault(digest, int(weights[0][1]) if weights and weights[0] else 1)
    if not digests:
        raise BadInput(f"The token file {place} holds no tokens.", "Write one on a line.")
    return Tokens(tuple(digests), {digest: weight for digest, weight in digests.items() if weight != 1})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_bind(host: str, tokens: Tokens, *, insecure: bool) -> None:
    """Refuse to be open to the network without tokens.

    Raises:
        BadInput: When `host` can be reached from elsewhere, there are no tokens, and nobody said that this is meant.
    """
    if not tokens and not insecure and not is_loopback(host):
        raise BadInput(
            f"Anybody who reaches {quote(host)} could run code here, since no tokens are asked for.",
            "Give --token-file, listen on 127.0.0.1, or say --insecure.",
        )


def parse_rate(text: str | None) -> float | None:
    """Requests a minute from `N/min` or `N`; None for no limit.

    Raises:
        BadInput: For anything else.
    """
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,9})(?:/min)?", text.strip())
    if not found or int(found[1]) < 1:
        raise BadInput(f"The rate limit {quote(text)} is not a number a minute.", "Write it as 600/min.")
    return float(found[1])


@dataclass(slots=True)
class RateLimit:
    """A bucket for each holder that fills evenly and holds a minute's worth.

    Args:
        each_minute: How many requests a holder has a minute; None for no limit.
    """

    each_minute: float | None
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self, holder: str) -> float:
        """Take one request; returns 0, or seconds until there is one when none is left."""
        if self.each_minute is None:
            return 0.0
        now = time.monotonic()
        with self._lock:
            left, then = self._left.get(holder, (self.each_minute, now))
            left = min(self.each_minute, left + (now - then) * self.each_minute / 60)
            if left < 1:
                return (1 - left) * 60 / self.each_minute
            self._left[holder] = (left - 1, now)
        return 0.0


class FairShares:
    """How much of something scarce each holder has at a time; used by one event loop.

    Args:
        most: How much; None for no limit.
    """

    def __init__(self, most: int | None) -> None:
        self.most = most
        self._held: Counter[str] = Counter()

    @contextlib.contextmanager
    def taken(self, holder: str) -> Iterator[bool]:
        """Take one for as long as the block runs; gives false, and takes nothing, where none is left."""
        if self.most is not None and self._held[holder] >= self.most:
            yield False
            return
        self._held[holder] += 1
        try:
            yield True
        finally:
            self._held[holder] -= 1
            if not self._held[holder]:
                del self._held[holder]
