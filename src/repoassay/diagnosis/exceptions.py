"""Exceptions of Python, told apart by what was missing and whose code the traceback runs through."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from repoassay.diagnosis.actions import ActionLine
from repoassay.diagnosis.case import AttemptCase
from repoassay.diagnosis.classes import ErrorClass, Subclass
from repoassay.diagnosis.words import words

__all__ = ["ExceptionRecord", "Owner", "origin", "raised_in"]

_FRAME = re.compile(r'\s{0,40}(?:[|+] )?\s{0,40}File "([^"\n]{1,400})", line \d{1,9}(?:, in (\S{1,100}))?')
_FINAL = re.compile(
    r"(?:E {1,8})?((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Za-z_]\w{0,60}(?:Error|Exception|Interrupt|Exit|Warning"
    r"|Impossible|Timeout|Found|Conflict|Failure|Fault)): ?(.{0,400})$"
)
_BARE = re.compile(r"((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Interrupt))\s*$")
_MODULE = re.compile(r"No module named '?([\w.\-]{1,200})'?")
_SYMBOL = re.compile(
    r"cannot import name '?(\w{1,200})'? from (?:partially initialized module )?'?([\w.]{1,200})'?(.{0,300})"
)
_ATTRIBUTE = re.compile(r"module '([\w.]{1,200})' has no attribute")
_SHAPES = re.compile(
    r"state_dict|size mismatch|\bshape|sizes? of tensors?|dimension|\bdims?\b"
    r"|expected .{1,80}(?:but )?(?:got|found)|mat1 and mat2"
    r"|given groups|input (?:has to|must)|invalid (?:argument|value)|must be|not broadcast|expects?\b"
    r"|not supported for|unsupported",
    re.IGNORECASE,
)
_NETWORK = re.compile(
    r"Connect(?:ion)?(?:Error|Timeout|Refused)|ReadTimeout|URLError|HTTPError|SSLError|ProxyError|gaierror"
    r"|EntryNotFound|DNSLookup|OfflineMode|MaxRetry"
)
_LOCAL = words(
    "utils util src lib models model config configs core data dataset datasets modules networks network "
    "options common helpers tools nets losses layers train infer inference app scripts helper util_funcs "
    "options_test"
)
_REMOVED = words("numpy np pil collections scipy torch torchvision tensorflow keras inspect ssl pandas pkgutil")
_LIBRARY = (
    "site-packages",
    "dist-packages",
    "/usr/lib/python",
    "/usr/local/lib/python",
    "lib/python3",
    "importlib",
    "<frozen",
)


class Owner(StrEnum):
    """Whose code a frame is."""

    AGENT = "agent"
    REPOSITORY = "repository"
    LIBRARY = "library"


@dataclass(frozen=True, slots=True)
class ExceptionRecord:
    """An exception: its name without package, its message, and the owners of the frames from outermost to innermost."""

    name: str
    message: str
    owners: tuple[Owner, ...]
    line: ActionLine
    place: int
    files: tuple[str, ...] = ()

    @property
    def within_repository(self) -> bool:
        """Whether the repository's own code was running."""
        return Owner.REPOSITORY in self.owners


def raised_in(lines: tuple[ActionLine, ...], case: AttemptCase, scripts: frozenset[str]) -> tuple[ExceptionRecord, ...]:
    """The exceptions that an output shows, with or without their frames; `scripts` are files the agent wrote."""
    found: list[ExceptionRecord] = []
    owners: list[Owner] = []
    files: list[str] = []
    for place, line in enumerate(lines):
        if line.text.lstrip(" |+").startswith("Traceback (most recent call last)"):
            owners, files = [], []
        elif frame := _FRAME.match(line.text):
            owners.append(_owner(frame[1], case, scripts))
            files.append(frame[1])
        elif final := _FINAL.match(line.text.strip()) or _BARE.match(line.text.strip()):
            name = final[1].rpartition(".")[2]
            if name.endswith("Warning"):
                continue
            message = final[2] if final.re is _FINAL else ""
            own = [] if owners else _named_owner(final[1], case)
            found.append(ExceptionRecord(name, message, tuple(owners or own), line, place, tuple(files)))
            owners, files = [], []
    return tuple(found[-50:])


def _named_owner(qualified: str, case: AttemptCase) -> list[Owner]:
    head = qualified.partition(".")[0]
    return [Owner.REPOSITORY] if "." in qualified and case.owns(head) else []


def _owner(path: str, case: AttemptCase, scripts: frozenset[str]) -> Owner:
    if path.startswith("<") and "frozen" not in path:
        return Owner.AGENT
    parts = path.split("/")
    if any(case.owns(part.removesuffix(".py")) for part in parts[-8:] if part) and not _is_script(path, scripts):
        return Owner.REPOSITORY
    if any(mark in path for mark in _LIBRARY):
        return Owner.LIBRARY
    return Owner.AGENT if _is_script(path, scripts) else Owner.REPOSITORY


def _is_script(path: str, scripts: frozenset[str]) -> bool:
    return path.rpartition("/")[2] in scripts


@dataclass(frozen=True, slots=True)
class ExceptionOrigin:
    """What an exception says about the cause. `module` is the top-level module that was missing, if one was."""

    code: ErrorClass
    subclass: Subclass
    weight: float
    why: str
    module: str = ""


def origin(raised: ExceptionRecord, case: AttemptCase) -> ExceptionOrigin | None:
    """The class of an exception; None where it says nothing (an exit, or an exception of unknown origin)."""
    name, message = raised.name, raised.message
    if name == "ModuleNotFoundError" or (name == "ImportError" and "No module named" in message):
        return _missing_module(raised, case)
    if name == "ImportError":
        return _missing_symbol(raised, case)
    if name == "AttributeError" and (found := _ATTRIBUTE.search(message)):
        return _missing_attribute(found[1], raised, case)
    if _NETWORK.search(name) or (name == "TimeoutError" and "connection" in message.lower()):
        return ExceptionOrigin(ErrorClass.E1, Subclass.NETWORK, 0.82, f"{name}: the network was not there")
    if name in {"KeyboardInterrupt", "MemoryError", "TimeoutError", "TimeoutExpired", "RecursionError"}:
        return ExceptionOrigin(ErrorClass.E4, Subclass.TIMEOUT_MEMORY, 0.8, f"{name} while running")
    if name in {"SystemExit", "CalledProcessError", "DistributionNotFound"}:
        return None
    return _misuse(raised)


def _missing_module(raised: ExceptionRecord, case: AttemptCase) -> ExceptionOrigin | None:
    found = _MODULE.search(raised.message)
    if found is None:
        return None
    module = found[1].strip(".")
    top, _, rest = module.partition(".")
    innermost = raised.owners[-1] if raised.owners else None
    if rest and (case.owns(top) or top.lower() in _LOCAL):
        return ExceptionOrigin(ErrorClass.E3, Subclass.WRONG_ENTRY, 0.85, f"{top} is there but has no {rest}", module)
    if rest and "is not a package" in raised.message:
        return ExceptionOrigin(ErrorClass.E3, Subclass.WRONG_ENTRY, 0.75, f"{top} is no package", module)
    if rest and (innermost in {Owner.LIBRARY, Owner.REPOSITORY} or not case.own):
        inside = innermost in {Owner.LIBRARY, Owner.REPOSITORY}
        code, part = (ErrorClass.E1, Subclass.VERSION_CONFLICT) if inside else (ErrorClass.E3, Subclass.WRONG_ENTRY)
        return ExceptionOrigin(code, part, 0.8, f"the installed {top} has no {rest}", module)
    if rest:
        return ExceptionOrigin(
            ErrorClass.E1, Subclass.VERSION_CONFLICT, 0.6, f"the installed {top} has no {rest}", module
        )
    if top.lower() in _LOCAL and not case.owns(top):
        return ExceptionOrigin(
            ErrorClass.E3, Subclass.WRONG_ENTRY, 0.55, f"{top} is a folder of the repository, not on the path", top
        )
    return ExceptionOrigin(ErrorClass.E1, Subclass.MISSING_PACKAGE, 0.9, f"the package {top} is absent", top)


def _missing_symbol(raised: ExceptionRecord, case: AttemptCase) -> ExceptionOrigin | None:
    found = _SYMBOL.search(raised.message)
    if found is None:
        if "relative import" in raised.message:
            return ExceptionOrigin(ErrorClass.E3, Subclass.WRONG_ENTRY, 0.8, "a file of a package was run by itself")
        if re.search(r"require[sd]|install|DLL load failed|shared object|backend", raised.message):
            return ExceptionOrigin(
                ErrorClass.E1, Subclass.MISSING_PACKAGE, 0.75, "an import needs something that is absent"
            )
        return ExceptionOrigin(ErrorClass.E1, Subclass.VERSION_CONFLICT, 0.6, "an import failed")
    symbol, module, where = found[1], found[2], found[3]
    why = f"{module} is there but has no {symbol}"
    if case.owns(module):
        return ExceptionOrigin(ErrorClass.E3, Subclass.API_MISUSE, 0.9, why)
    innermost = raised.owners[-1] if raised.owners else None
    third_party = any(mark in where for mark in _LIBRARY)
    if innermost is Owner.LIBRARY or (third_party and innermost is not Owner.AGENT):
        return ExceptionOrigin(ErrorClass.E1, Subclass.VERSION_CONFLICT, 0.85, why)
    if innermost is Owner.REPOSITORY and case.own and third_party:
        return ExceptionOrigin(ErrorClass.E1, Subclass.VERSION_CONFLICT, 0.8, why)
    return ExceptionOrigin(ErrorClass.E3, Subclass.API_MISUSE, 0.7, why)


def _missing_attribute(module: str, raised: ExceptionRecord, case: AttemptCase) -> ExceptionOrigin:
    top = module.partition(".")[0]
    innermost = raised.owners[-1] if raised.owners else None
    why = f"{module} has no such attribute"
    if case.owns(top):
        return ExceptionOrigin(ErrorClass.E3, Subclass.API_MISUSE, 0.88, why)
    if innermost in {Owner.LIBRARY, Owner.REPOSITORY} or top.lower() in _REMOVED:
        return ExceptionOrigin(ErrorClass.E1, Subclass.VERSION_CONFLICT, 0.82, why)
    return ExceptionOrigin(ErrorClass.E3, Subclass.API_MISUSE, 0.6, why)


_MISUSE = words(
    "TypeError AttributeError ValueError KeyError IndexError AssertionError NameError NotImplementedError "
    "UnboundLocalError ValidationError ConfigError"
)


def _misuse(raised: ExceptionRecord) -> ExceptionOrigin | None:
    """An exception at the boundary of the repository's interface, or of its own code, or of nobody known."""
    name, message = raised.name, raised.message
    if name in {"FileNotFoundError", "NotADirectoryError", "IsADirectoryError"}:
        if raised.within_repository:
            return ExceptionOrigin(
                ErrorClass.E3, Subclass.WRONG_ENTRY, 0.6, "the repository's code was given a path that is not there"
            )
        return ExceptionOrigin(ErrorClass.E4, Subclass.INTERRUPTION, 0.5, "a file was not there at run time")
    if name in {"OSError", "PermissionError"}:
        return ExceptionOrigin(ErrorClass.E4, Subclass.INTERRUPTION, 0.5, f"{name} at run time")
    if name in {"SyntaxError", "IndentationError"}:
        return ExceptionOrigin(ErrorClass.E4, Subclass.INTERRUPTION, 0.55, "a program is not valid Python")
    if raised.within_repository:
        return ExceptionOrigin(ErrorClass.E3, Subclass.API_MISUSE, 0.8, f"{name} inside the repository's code")
    if name == "TypeError" and re.search(r"keyword argument|positional argument|required .{0,20}argument", message):
        return ExceptionOrigin(ErrorClass.E3, Subclass.API_MISUSE, 0.78, "a call with the wrong arguments")
    if name in {"RuntimeError", "ValueError"} and _SHAPES.search(message):
        return ExceptionOrigin(ErrorClass.E3, Subclass.API_MISUSE, 0.65, f"{name}: what was passed does not fit")
    if name == "AttributeError" and "has no attribute" in message:
        return ExceptionOrigin(ErrorClass.E3, Subclass.API_MISUSE, 0.62, "an object has no such attribute")
    if name in _MISUSE:
        return ExceptionOrigin(ErrorClass.E3, Subclass.API_MISUSE, 0.5, f"{name} in the agent's use of the repository")
    return ExceptionOrigin(ErrorClass.E4, Subclass.INTERRUPTION, 0.55, f"{name} at run time")
