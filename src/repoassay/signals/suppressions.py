"""Comments that silence a checker, added by the change."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from pathlib import PurePosixPath

from repoassay.signals.bench import ToolRunner
from repoassay.signals.change import Change
from repoassay.signals.signal import Signal, SignalAxis, SignalEvidence, at_line, judged
from repoassay.signals.worktrees import JAVASCRIPT

__all__ = ["suppressions"]

_PYTHON = re.compile(
    r"#\s*(noqa|type:\s*ignore|pragma:\s*no\s*(?:cover|branch)|pylint:\s*disable|pyright:|mypy:|ruff:|fmt:\s*(?:off|skip)"
    r"|nosec|isort:\s*skip|flake8:|yapf:\s*disable|noinspection)",
    re.IGNORECASE,
)
_SCRIPT = re.compile(
    r"(?://|/\*|\*|<!--)\s*(eslint-disable(?:-next-line|-line)?|@ts-(?:ignore|expect-error|nocheck)|prettier-ignore"
    r"|istanbul ignore|c8 ignore|v8 ignore|biome-ignore|tslint:disable)"
)


def suppressions(change: Change, bench: ToolRunner) -> list[Signal]:
    """Count suppressions of each kind in each file; those beyond the base's count are new."""
    evidence: list[SignalEvidence] = []
    for each in change.diff.files:
        suffix = PurePosixPath(each.path).suffix
        pattern = _PYTHON if suffix in (".py", ".pyi") else _SCRIPT if suffix in JAVASCRIPT else None
        if pattern is None or each.new is None:
            continue
        comments = _comments(change.head.text(each.new)) if pattern is _PYTHON else None
        gone = Counter(_kind(found[1]) for text in each.removed.values() for found in pattern.finditer(text))
        for line, text in sorted(each.added.items()):
            for found in pattern.finditer(comments.get(line, "") if comments is not None else text):
                kind = _kind(found[1])
                if gone[kind] > 0:
                    gone[kind] -= 1
                else:
                    evidence.append(at_line(each.path, line, text, f"New suppression: {kind}."))
    return [judged("suppressions", SignalAxis.LINT, "New comments that silence a checker", evidence)]


def _kind(text: str) -> str:
    return re.sub(r"\s+", " ", text.lower()).rstrip(":")


def _comments(text: str | None) -> dict[int, str] | None:
    """Comments of a Python file by line, so that strings which speak of them do not count; None where unreadable."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text or "").readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
