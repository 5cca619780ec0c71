"""Every attack there is. Those whose patch is code or files are kept as TOML, one file a family and language.

A file names `family`, `language`, and `why` a naive harness believes it. Each `[[attack]]` has `name`, `tries`,
`origin`, perhaps a `why` of its own, and `code` (put at the end of the module that the tests load first), `files` (path
to content) or both. `needs` names pieces of code to put before it, which lie in `python.toml` and `javascript.toml`. In
all of it `@MODULE@`, `@PACKAGE@`, `@WORDS@`, `@DEFINED@`, and for attacks that are `white` also `@FILES@` and
`@TESTS@`, stand for what is known of the target: lists as JSON, which both languages read.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import Field

from repoassay.attacks.attack import Attack, AttackOrigin, Make
from repoassay.attacks.patch_builder import appended, created
from repoassay.attacks.target import Language, Target
from repoassay.attacks.tricks import POISONED, TRICKS
from repoassay.errors import BadInput
from repoassay.text import quote, suggest
from repoassay.types import Record

__all__ = ["catalogue", "families", "payloads", "select_attacks", "shared"]

_PLACE = Path(__file__).with_name("payloads")


class Snippet(Record):
    """A piece of code that several payloads share, and the pieces it rests on."""

    code: str
    needs: tuple[str, ...] = ()


class AttackPayload(Record):
    """One attack as its file states it."""

    name: Annotated[str, Field(min_length=2)]
    tries: Annotated[str, Field(min_length=10)]
    why: str = ""
    origin: AttackOrigin
    code: str = ""
    files: Mapping[str, str] = Field(default_factory=dict)
    needs: tuple[str, ...] = ()
    white: bool = False
    slow: bool = False


class Family(Record):
    """One file of payloads."""

    family: str
    language: Language
    why: str = ""
    plain: bool = True
    attack: tuple[AttackPayload, ...]


def payloads() -> Iterator[Attack]:
    """Every attack of the files, by family."""
    for path in sorted(_PLACE.glob("*/*.toml")):
        read = Family.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        for each in read.attack:
            yield Attack(
                each.name, read.family, read.language, each.tries, each.why or read.why, each.origin,
                _maker(each, read.language), plain=read.plain, white=each.white, slow=each.slow,
            )  # fmt: skip


@functools.cache
def _snippets(language: Language) -> Mapping[str, Snippet]:
    data = tomllib.loads((_PLACE / f"{language}.toml").read_text(encoding="utf-8"))
    return {name: Snippet.model_validate(each) for name, each in data.items()}


def shared(target: Target, name: str) -> str:
    """A piece of code for a target, with what it rests on."""
    return _filled("\n".join(_with_needs([name], _snippets(target.language), {}).values()), _facts(target, white=True))


def _with_needs(names: Iterable[str], known: Mapping[str, Snippet], done: dict[str, str]) -> dict[str, str]:
    for name in names:
        if name not in done:
            _with_needs(known[name].needs, known, done)
            done[name] = known[name].code
    return done


def _maker(payload: AttackPayload, language: Language) -> Make:
    def make(target: Target) -> bytes:
        facts = _facts(target, payload.white)
        patch = b""
        if payload.files:
            files = {_filled(name, facts): _filled(text, facts) for name, text in payload.files.items()}
            files.pop(target.module if payload.code else "", None)
            patch = created(target, files)
        if payload.code:
            parts = _with_needs(payload.needs, _snippets(language), {})
            patch += appended(target, _filled("\n".join([*parts.values(), payload.code]), facts))
        return patch

    return make


def _facts(target: Target, white: bool) -> dict[str, str]:
    """What marks in a payload stand for."""
    return {
        "@MODULE@": target.module,
        "@PACKAGE@": target.package,
        "@WORDS@": json.dumps(target.words),
        "@DEFINED@": json.dumps(target.defined),
        **({"@FILES@": json.dumps(target.files), "@TESTS@": json.dumps(target.tests)} if white else {}),
    }


def _filled(text: str, facts: Mapping[str, str]) -> str:
    for mark, value in facts.items():
        text = text.replace(mark, value)
    return text


@functools.cache
def catalogue() -> tuple[Attack, ...]:
    """Every attack, families together."""
    every = (*payloads(), *POISONED, *TRICKS)
    return tuple(sorted(every, key=lambda each: ((each.language or ""), each.family)))


def families(attacks: Iterable[Attack]) -> tuple[str, ...]:
    """Names of families in the order of the catalogue."""
    return tuple(dict.fromkeys(each.family for each in attacks))


def select_attacks(globs: Sequence[str]) -> tuple[Attack, ...]:
    """The attacks of families that match; all without a glob.

    Raises:
        BadInput: When a glob matches no family.
    """
    known = families(catalogue())
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in known):
            raise BadInput(f"There is no family of attacks {quote(glob)}.", suggest(glob, known))
    return tuple(each for each in catalogue() if not globs or any(fnmatchcase(each.family, glob) for glob in globs))
