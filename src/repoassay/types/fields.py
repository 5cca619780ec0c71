"""Types of fields that several nouns share: sizes, paths, names, durations, money."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

__all__ = [
    "Day",
    "Dollars",
    "HostName",
    "Identifier",
    "InnerPath",
    "Number",
    "Seconds",
    "Sha256",
    "Size",
    "inner_path",
    "is_local",
]

_SIZE = re.compile(r"^\s*(\d{1,15}(?:\.\d{1,15})?)\s*(B|kB|KB|MB|GB|KiB|MiB|GiB)\s*$")
_UNITS = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def _bytes(value: object) -> object:
    """Read '512 MB' as bytes; leave anything else for pydantic to judge."""
    if isinstance(value, str):
        match = _SIZE.match(value)
        if match is None:
            raise ValueError("is not a size; write a number with B, kB, MB, GB, KiB, MiB or GiB, such as '512 MB'")
        return int(float(match[1]) * _UNITS[match[2]])
    return value


def inner_path(value: str) -> str:
    """Accept a relative path with forward slashes that stays inside its folder.

    Raises:
        ValueError: When it is anything else.
    """
    path = PurePosixPath(value)
    if len(value) > 1024:
        raise ValueError("is longer than 1024 characters; shorten it")
    if not value or path.is_absolute() or ".." in path.parts or "\\" in value or "\0" in value or value == ".":
        raise ValueError("must be a relative path with forward slashes that stays inside its folder")
    return value


def is_local(host: str | None) -> bool:
    """Whether a host's name means this machine."""
    return host in ("127.0.0.1", "localhost", "::1")


Size = Annotated[int, BeforeValidator(_bytes), Field(gt=0, le=2**44)]
InnerPath = Annotated[str, AfterValidator(inner_path)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Seconds = Annotated[float, Field(gt=0, le=7 * 86400, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Dollars = Annotated[Decimal, Field(ge=0, le=10**9)]
HostName = Annotated[
    str, Field(pattern=r"^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9](:\d{1,5})?$")
]
Day = Annotated[str, Field(pattern=r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
