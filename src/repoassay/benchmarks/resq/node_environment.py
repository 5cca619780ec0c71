"""What a row in JavaScript may ask of its environment: node, and nothing from npm, which no sandbox can reach."""

from __future__ import annotations

import re

from repoassay.errors import BadInput
from repoassay.text import quote

__all__ = ["check_node_environment", "is_javascript"]

_LANGUAGES = frozenset({"javascript", "js", "node", "nodejs", "node.js"})
_NODE = re.compile(
    r"(?:(?:node(?:js|\.js)?|javascript|js)\b|(?=v?\d)|$)[\s:=@>v-]*(?:\d+(?:\.(?:\d+|x))*)?(?: ?\(?lts\)?)?"
)


def is_javascript(language: str) -> bool:
    """Whether a row's language is JavaScript, by any of its names."""
    return language.strip().lower() in _LANGUAGES


def check_node_environment(environment: str, requirements: str) -> None:
    """Refuse a row in JavaScript that names packages, or more than a version of node.

    Raises:
        BadInput: With the first one; the sentence has `its` for a subject.
    """
    named = [line.strip() for line in requirements.splitlines() if line.partition("#")[0].strip()]
    if named and named != ["{}"]:
        raise BadInput(
            f"its requirements_txt names {quote(named[0])}, and packages from npm are not installed.",
            "Leave it empty, and use what node and the repository bring.",
        )
    stated = re.sub(r"(?<=[a-z])(?=\d)", " ", environment.strip().lower())
    if not _NODE.fullmatch(stated):
        raise BadInput(
            f"its testbed_environment {quote(environment)} is more than a version of node, which is all that is there.",
            "Write node and its version.",
        )
