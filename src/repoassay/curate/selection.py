"""Selection: rules held against what is known of each candidate, with every value and its source kept."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.curate.candidates import RepositoryCandidate, RepositorySource, open_candidate
from repoassay.curate.evidence import evidence_digest, read_toml, write_toml
from repoassay.curate.facts import RepositoryFact, facts_of, published_repositories
from repoassay.curate.pool import SELECTION, keep_tree
from repoassay.curate.rules import SelectionRule, first_refusal
from repoassay.errors import BadInput, RepoAssayError
from repoassay.tasks import find_suite, named_suites

__all__ = ["SelectionResult", "known_suites", "select_repositories"]

_INTRODUCTION = "Written by `repoassay curate select`. A rule whose fact is unknown does not hold."


@dataclass(frozen=True, slots=True)
class SelectionResult:
    """What became of one candidate: whether it was chosen, the first reason why not, and its folder in the pool."""

    name: str
    chosen: bool
    why: str
    folder: Path
    kept: bool = False


def known_suites() -> dict[str, list[str]]:
    """Repositories of every suite that is installed, by suite."""
    return {name: [task.task.repository.name for task in find_suite(name).tasks] for name in named_suites()}


def select_repositories(
    candidates: Sequence[RepositoryCandidate], rules: Sequence[SelectionRule], pool: Path, *, today: datetime.date,
    suites: Mapping[str, Sequence[str]], again: bool = False,
    on_result: Callable[[SelectionResult], None] = lambda _: None,
) -> list[SelectionResult]:  # fmt: skip
    """Hold rules against candidates and write `POOL/NAME/selection.toml` for each; the chosen are pinned there.

    A candidate that was looked at with the same rules is not looked at again.

    Args:
        candidates: Which.
        rules: What must hold.
        pool: Folder of the pool.
        today: The day from which `within` counts.
        suites: Published suite -> its repositories.
        again: Look at all of them again.
        on_result: Told of each.
    """
    published = published_repositories(suites)
    found = []
    for candidate in candidates:
        identity = evidence_digest(
            [rule.text for rule in rules], _state(candidate), candidate.given, today, sorted(published)
        )
        result = None if again else _earlier(pool / candidate.name, identity)
        result = result or _look(candidate, rules, pool, today, published, identity)
        found.append(result)
        on_result(result)
    return found


def _state(candidate: RepositoryCandidate) -> list[object]:
    place = Path(candidate.place)
    if not place.exists():
        return [candidate.place]
    return [str(place.resolve()), place.stat().st_size, place.stat().st_mtime_ns]


def _earlier(folder: Path, identity: str) -> SelectionResult | None:
    if not (folder / SELECTION).is_file():
        return None
    data = read_toml(folder / SELECTION, "The evidence", "Remove its folder.")
    if data.get("looked_at") != identity:
        return None
    return SelectionResult(folder.name, data.get("selected") is True, str(data.get("why", "")), folder, kept=True)


def _look(
    candidate: RepositoryCandidate, rules: Sequence[SelectionRule], pool: Path, today: datetime.date,
    published: Mapping[str, Collection[str]], identity: str,
) -> SelectionResult:  # fmt: skip
    folder = pool / candidate.name
    about = {"name": candidate.name, "place": candidate.place, "today": today}
    try:
        with open_candidate(candidate) as source:
            facts = facts_of(candidate, source, published)
            results = [(rule, rule.holds(facts[rule.fact].value, today)) for rule in rules]
            chosen = all(held for _, held in results)
            why = first_refusal(results)
            pinned = _pin(source, folder) if chosen else None
            write_toml(folder / SELECTION, {
                **about, "selected": chosen, "why": why, "looked_at": identity, "source": pinned,
                "rule": [_rule(rule, facts[rule.fact], held) for rule, held in results],
                "fact": [{"name": name, "value": fact.value, "source": fact.source} for name, fact in facts.items()],
            }, _INTRODUCTION)  # fmt: skip
    except RepoAssayError as error:
        chosen, why = False, f"cannot be read: {error.message}"
        write_toml(folder / SELECTION, {**about, "selected": False, "why": why, "looked_at": identity}, _INTRODUCTION)
    return SelectionResult(candidate.name, chosen, why, folder)


def _rule(rule: SelectionRule, fact: RepositoryFact, held: bool | None) -> dict[str, object]:
    value = "unknown" if fact.value is None else fact.value
    return {"rule": rule.text, "value": value, "source": fact.source, "holds": "unknown" if held is None else held}


def _pin(source: RepositorySource, folder: Path) -> dict[str, object]:
    if not source.tree.is_dir():
        raise BadInput(f"{source.tree} is no folder.", "Get the candidate again.")
    digest = keep_tree(source.tree, folder / "repository" / folder.name)
    if source.archive is not None:
        (folder / "sdist").mkdir(exist_ok=True)
        shutil.copyfile(source.archive, folder / "sdist" / source.archive.name)
    return {
        "kind": source.kind, "pin": source.pin or digest, "day": source.day, "package": source.package,
        "version": source.version, "archive": source.archive.name if source.archive else None, "tree": digest,
    }  # fmt: skip
