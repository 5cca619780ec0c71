"""Guides and changelog: touched when the public interface or the program changed, where the project keeps them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from repoassay.signals.bench import ToolRunner
from repoassay.signals.change import Change
from repoassay.signals.names import is_public_module, public
from repoassay.signals.signal import (
    Signal,
    SignalAxis,
    SignalEvidence,
    at_line,
    at_path,
    judged,
    silent,
    unknown_signal,
)
from repoassay.signals.worktrees import is_document

__all__ = ["changelog", "guides"]

_CHANGELOG = re.compile(
    r"(change(s|log)|history|news|release[-_]?notes|whats[-_]?new)(\.(md|rst|txt|adoc))?", re.IGNORECASE
)
_FRAGMENTS = frozenset({"changelog.d", "newsfragments", "changes", "news", "changelog", ".changeset", "changelogs"})
_GUIDES, _NEWS = "Guides untouched though the public interface changed", "No changelog entry though the program changed"
_MOST_DOCUMENTS = 300


def guides(change: Change, bench: ToolRunner) -> list[Signal]:
    """Look whether guides that speak of a module's public names were touched when these names changed."""
    id, axis = "guides", SignalAxis.DOCUMENTATION
    altered = [(path, *each) for path, found in _altered(change).items() for each in found]
    if not altered:
        return [silent(id, axis, _GUIDES, notes=("The public interface of Python modules did not change.",))]
    documents = [path for path in change.base.files if is_document(path) and not _is_changelog(path)][:_MOST_DOCUMENTS]
    spoken = {path: place for path in {each[0] for each in altered} if (place := _speaks(change, path, documents))}
    if not spoken:
        return [
            unknown_signal(
                id, axis, _GUIDES, "No guide of the project mentions the public names of the changed modules."
            )
        ]
    if any(is_document(each.path) and not _is_changelog(each.path) for each in change.diff.files):
        return [silent(id, axis, _GUIDES)]
    if change.does_not_touch(lambda path: is_document(path) and not _is_changelog(path)):
        return [silent(id, axis, _GUIDES, notes=("The reference touches no guide either.",))]
    evidence = [
        at_line(path, line, change.head.line(path, line), f"{sentence} {spoken[path]} speaks of this module's names.")
        for path, line, sentence in altered if path in spoken
    ]  # fmt: skip
    return [judged(id, axis, _GUIDES, evidence)]


def changelog(change: Change, bench: ToolRunner) -> list[Signal]:
    """Look whether the changelog, or a fragment of it, was touched when program files were."""
    id, axis = "changelog", SignalAxis.DOCUMENTATION
    kept = next((path for path in change.base.files if _is_changelog(path)), None)
    if kept is None:
        return [unknown_signal(id, axis, _NEWS, "The project keeps no changelog.")]
    sources = list(change.sources())
    if not sources:
        return [silent(id, axis, _NEWS, notes=("The change touches no program file.",))]
    if any(each.new and _is_changelog(each.path) for each in change.diff.files):
        return [silent(id, axis, _NEWS)]
    if change.does_not_touch(_is_changelog):
        return [silent(id, axis, _NEWS, notes=("The reference writes no entry either.",))]
    sentence = f"The project keeps {kept}; the change writes nothing there."
    return [judged(id, axis, _NEWS, [at_path(kept, sentence), *_first_lines(change)])]


def _first_lines(change: Change) -> Iterator[SignalEvidence]:
    for each in list(change.sources())[:3]:
        if each.added:
            line = min(each.added)
            yield at_line(each.path, line, each.added[line], "Changed without an entry.")


def _is_changelog(path: str) -> bool:
    pure = PurePosixPath(path)
    if _CHANGELOG.fullmatch(pure.name):
        return len(pure.parts) == 1 or pure.parts[0].lower() in ("doc", "docs")
    return len(pure.parts) <= 3 and bool(_FRAGMENTS & {part.lower() for part in pure.parts[:-1]}) and pure.suffix in (
        ".md", ".rst", ".txt", ".feature", ".bugfix", ".misc", ".yml", ".yaml")  # fmt: skip


def _altered(change: Change) -> dict[str, list[tuple[int, str]]]:
    """Public names that are new, gone, or take other arguments: head's line and a sentence, by module."""
    found: dict[str, list[tuple[int, str]]] = {}
    for each in change.sources():
        tree = change.head.python(each.path) if each.path.endswith(".py") and is_public_module(each.path) else None
        if tree is None:
            continue
        before = change.base_tree(each)
        known, now = public(before) if before else {}, public(tree)
        changes = [(name.line, f"{key} is new.") for key, name in now.items() if key not in known]
        changes += [(name.line, f"{key} takes other arguments.") for key, name in now.items()
                 if key in known and known[key].signature != name.signature]  # fmt: skip
        changes += [(1, f"{key} is gone.") for key in known if key not in now]
        if changes:
            found[each.path] = changes
    return found


def _speaks(change: Change, path: str, documents: list[str]) -> str:
    """The first guide that mentions a public name the module had before, or in a new module the package's name."""
    change_of = change.diff.by_new()[path]
    before = change.base_tree(change_of)
    names = [name for name in public(before) if "." not in name and len(name) > 3] if before else []
    names = names or (
        [PurePosixPath(path).parent.name] if before is None and len(PurePosixPath(path).parts) > 1 else []
    )
    if not names:
        return ""
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, names[:200]))})\b")
    return next((each for each in documents if pattern.search(change.base.text(each) or "")), "")
