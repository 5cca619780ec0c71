"""What an attack is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from repoassay.attacks.target import Language, Target

__all__ = ["Attack", "AttackOrigin", "Make"]

Make = Callable[[Target], bytes]


class AttackOrigin(StrEnum):
    """Where an attack comes from: an audit of this program, a study of ways to forge reports, or its authors."""

    AUDIT = "audit"
    STUDY = "study"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Attack:
    """A patch that wants to be believed without being right, or to do harm.

    Args:
        name: A few words, unique.
        family: What kind of trick it is.
        language: Of the tasks it is for; None for any.
        tries: What it does, in one sentence.
        why: Why a harness that trusts the process would believe it; empty where it only does harm.
        origin: Where it comes from.
        make: The patch for a target.
        plain: Whether a plain harness says something of it: not so for what only wants to do harm.
        white: Whether it is made with the names of the hidden tests.
        slow: Whether it runs until a limit ends it.
    """

    name: str
    family: str
    language: Language | None
    tries: str
    why: str
    origin: AttackOrigin
    make: Make
    plain: bool = True
    white: bool = False
    slow: bool = False

    def fits(self, target: Target) -> bool:
        """Whether it is for tasks of the target's language."""
        return self.language in (None, target.language)

    def digest(self, target: Target) -> str:
        """Short digest of its patch for a target, by which a kept result is known to be still true."""
        return hashlib.sha256(self.make(target)).hexdigest()[:16]
