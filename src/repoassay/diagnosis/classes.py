"""The five error classes and their subclasses (GitTaskBench, arXiv 2508.18993, Table 12), and the spellings of them.

The paper itself writes E1, E-1 and "Type E1 - Dependency/Environment Error", and its names of one class vary; so a
label is read permissively, and what was written is kept beside the code.
"""

from __future__ import annotations

import re
from enum import StrEnum

from repoassay.types import Record

__all__ = ["SUBCLASSES", "ErrorClass", "Named", "Subclass", "class_of", "parse_class"]


class ErrorClass(StrEnum):
    """Why an attempt failed."""

    E1 = "E1"
    E2 = "E2"
    E3 = "E3"
    E4 = "E4"
    E5 = "E5"

    @property
    def meaning(self) -> str:
        """Its name, as reports print it."""
        return _TITLES[self]


class Subclass(StrEnum):
    """What kind of failure within a class."""

    VERSION_CONFLICT = "version_conflict"
    MISSING_PACKAGE = "missing_package"
    MISSING_WHEEL = "missing_wheel"
    SYSTEM_LIBRARY = "system_library"
    NETWORK = "network"
    NO_FOLLOW_UP = "no_follow_up"
    README_ONLY = "readme_only"
    WRONG_ENTRY = "wrong_entry"
    API_MISUSE = "api_misuse"
    TIMEOUT_MEMORY = "timeout_memory"
    INTERRUPTION = "interruption"
    NAMING_FORMAT = "naming_format"
    REPOSITORY_BYPASS = "repository_bypass"
    DECEPTION = "deception"


class Named(Record):
    """A class as somebody wrote it: the code, and the words."""

    code: ErrorClass
    original: str


_TITLES = {
    ErrorClass.E1: "environment setup",
    ErrorClass.E2: "workflow planning",
    ErrorClass.E3: "repository comprehension",
    ErrorClass.E4: "runtime",
    ErrorClass.E5: "instruction non-compliance",
}

SUBCLASSES: dict[ErrorClass, tuple[Subclass, ...]] = {
    ErrorClass.E1: (
        Subclass.VERSION_CONFLICT,
        Subclass.MISSING_PACKAGE,
        Subclass.MISSING_WHEEL,
        Subclass.SYSTEM_LIBRARY,
        Subclass.NETWORK,
    ),
    ErrorClass.E2: (Subclass.NO_FOLLOW_UP, Subclass.README_ONLY),
    ErrorClass.E3: (Subclass.WRONG_ENTRY, Subclass.API_MISUSE),
    ErrorClass.E4: (Subclass.TIMEOUT_MEMORY, Subclass.INTERRUPTION),
    ErrorClass.E5: (Subclass.NAMING_FORMAT, Subclass.REPOSITORY_BYPASS, Subclass.DECEPTION),
}
"""The subclasses of each class, in the order of the paper's table."""

# A code stands alone or at the head of a phrase; "see E1 and E2" names no single class and is refused.
_CODE = re.compile(
    r"\s*(?:(?:error\s+)?(?:type|class)\s*:?\s*)?e\s*[-_\u2010-\u2015]?\s*([1-5])(?![0-9])", re.IGNORECASE
)


def parse_class(text: str) -> Named:
    """Read one class out of "E1", "E-1", "e 1: ..." or "Type E1 - Dependency/Environment Error".

    Raises:
        ValueError: When the text does not begin with a code.
    """
    found = _CODE.match(text[:200])
    if found is None:
        raise ValueError(f"{text[:60]!r} names no error class; write E1, E2, E3, E4 or E5")
    return Named(code=ErrorClass(f"E{found[1]}"), original=text[:200])


def class_of(subclass: Subclass) -> ErrorClass:
    """The class that a subclass belongs to."""
    return next(code for code, parts in SUBCLASSES.items() if subclass in parts)
