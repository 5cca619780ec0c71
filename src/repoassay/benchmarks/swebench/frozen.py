"""A row's frozen environment, as SWE-bench's repository has one for every Verified row: read without a YAML parser.

conda names what it installs `NAME=VERSION=BUILD`. What it built for Python comes from the package index instead, where
it mostly has the same name; libraries that are not Python's are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from repoassay.errors import BadInput
from repoassay.text import normalize_name, quote

__all__ = ["FrozenEnvironment", "read_environment", "read_requirements"]

_CONDA = re.compile(r"  - ([A-Za-z0-9_.-]+)=([A-Za-z0-9_.+!-]+)=([A-Za-z0-9_.]+)")
_PIP = re.compile(r"      - ([A-Za-z0-9][A-Za-z0-9_.-]*)==([A-Za-z0-9_.+!-]+)")
_BUILT_FOR_PYTHON = re.compile(r"(?:^|_)py(?:\d|h|ge|_)")
_NAMES = {
    "antlr-python-runtime": "antlr4-python3-runtime",
    "brotli-python": "brotli",
    "iris": "scitools-iris",
    "matplotlib-base": "matplotlib",
    "msgpack-python": "msgpack",
    "nbconvert-core": "nbconvert",
    "python-eccodes": "eccodes",
    "python-fastjsonschema": "fastjsonschema",
    "python-tzdata": "tzdata",
    "python-xxhash": "xxhash",
    "seaborn-base": "seaborn",
}
"""Packages that conda calls otherwise than the index."""
_PASSED_OVER = frozenset({
    # Parts of another one; what only conda has.
    "cdat-info", "cdms2", "cdtime", "distarray", "esmpy", "libcf", "numpy-base", "pip", "pseudonetcdf", "pyarrow-core",
    "pybind11-global", "snuggs",
    # Front ends of windows, and what would be compiled against libraries that conda brought; tests skip without them.
    "cairocffi", "cf-units", "pycairo", "pygobject", "pyqt", "pyqt5-sip", "scitools-iris", "sip", "wxpython",
    # For Pythons before 3.9.
    "backports-zoneinfo",
    # C clients of servers that no sandbox has; they have no wheels, and the tests that want them are skipped.
    "pylibmc", "pywatchman",
})  # fmt: skip
_IN_PLACE = {"3.9": {"numpy==1.19.2": "numpy==1.19.3", "scipy==1.5.2": "scipy==1.5.4"}}
"""By release line, what conda built and the index has no wheel of -> the next patch release that it has one of.

Their sources cannot be built with what the index has today, or take an hour.
"""
_LATER = timedelta(days=120)


@dataclass(frozen=True, slots=True)
class FrozenEnvironment:
    """An environment with every version fixed.

    Attributes:
        python: Release line, such as `3.9`.
        requirements: `NAME==VERSION`, by name.
        exclude_newer: The day until which packages count, `YYYY-MM-DD`: somewhat after it was made.
        not_before: A day before which it was not made, by the version of certifi; empty where that tells none.
        passed_over: Names of packages that were left out.
        replaced: `NAME==VERSION` -> what is installed in place of it.
    """

    python: str
    requirements: tuple[str, ...]
    exclude_newer: str | None
    passed_over: tuple[str, ...]
    replaced: Mapping[str, str] = field(default_factory=dict)
    not_before: str = ""


def read_environment(text: str) -> FrozenEnvironment:
    """Read an `environment.yml` whose every version is fixed.

    Raises:
        BadInput: When it names no Python; the sentence has the row as its subject.
    """
    python, day = "", None
    pins: dict[str, str] = {}
    left: list[str] = []
    for name, version, build in _packages(text):
        if name == "python":
            python = ".".join(version.split(".")[:2])
        elif name == "ca-certificates":
            day = _day(version)
        if name == "python" or (build is not None and not _BUILT_FOR_PYTHON.search(build)):
            continue
        found = _NAMES.get(name, name)
        if found in _PASSED_OVER:
            left.append(found)
        elif build is None or found not in pins:
            pins[found] = version
    if not re.fullmatch(r"3\.\d{1,2}", python):
        raise BadInput("its frozen environment names no Python 3.", "Give an environment.yml that conda has frozen.")
    listed, replaced = _listed(pins, python)
    until = (day + _LATER).isoformat() if day else None
    return FrozenEnvironment(python, listed, until, tuple(sorted(set(left) - {"pip"})), replaced)


def read_requirements(text: str, python: str, environment: str = "") -> FrozenEnvironment:
    """Read `NAME==VERSION`, divided by line ends or spaces, for a release line; what is no such pin is left out.

    Args:
        text: What `pip freeze` wrote.
        python: The release line.
        environment: The same environment as conda exports it, or empty. pip names a file of the machine in place of the
            version of what conda installed, pytest among it; the version stands here, and about which day it was.
    """
    exported = {found[1]: found[2] for line in environment.splitlines() if (found := _CONDA.fullmatch(line.rstrip()))}
    versions = {_NAMES.get(normalize_name(name), normalize_name(name)): version for name, version in exported.items()}
    pins: dict[str, str] = {}
    left = []
    for word in re.sub(r" @ \S+", "@", text).split():
        found = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9_.-]*)(?:==([A-Za-z0-9_.+!-]+)|@)", word)
        name = normalize_name(found[1]) if found else ""
        version = (found[2] or versions.get(name)) if found else None
        if version is None or name in _PASSED_OVER:
            left.append(word.partition("@")[0])
        else:
            pins[name] = version
    day = _day(exported.get("ca-certificates", ""))
    listed, replaced = _listed(pins, python)
    until = (day + _LATER).isoformat() if day else None
    certified = _day(pins.get("certifi", ""))
    not_before = (certified + _LATER).isoformat() if certified else ""
    return FrozenEnvironment(python, listed, until, tuple(sorted(set(left))), replaced, not_before)


def _listed(pins: Mapping[str, str], python: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Requirements by name, and which of them stand in place of another version."""
    wanted = [f"{name}=={version}" for name, version in sorted(pins.items())]
    replaced = {pin: known for pin in wanted if (known := _IN_PLACE.get(python, {}).get(pin))}
    return tuple(replaced.get(pin, pin) for pin in wanted), replaced


def _packages(text: str) -> Iterator[tuple[str, str, str | None]]:
    """Name as the index normalizes it, version, and conda's build, None for what pip installed."""
    for number, line in enumerate(text.partition("\ndependencies:")[2].splitlines(), 1):
        bare = line.rstrip()
        found = _CONDA.fullmatch(bare) or _PIP.fullmatch(bare)
        if found:
            groups = found.groups()
            yield normalize_name(groups[0]), groups[1], groups[2] if len(groups) > 2 else None
        elif bare.startswith("  - ") and bare != "  - pip:":
            raise BadInput(
                f"its frozen environment has {quote(bare.strip())} as dependency {number}, which fixes no version.",
                "Give an environment.yml that conda has frozen.",
            )


def _day(version: str) -> date | None:
    """The day that a package is named after."""
    found = re.fullmatch(r"(20\d\d)\.(\d{1,2})\.(\d{1,2})", version)
    try:
        return date(int(found[1]), int(found[2]), int(found[3])) if found else None
    except ValueError:
        return None
