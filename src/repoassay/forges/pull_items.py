"""Items of a study made of pull requests: blinded, under opaque names, with what became of each in the hidden half."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import asdict

from repoassay.diffs import read
from repoassay.forges.outcomes import LandedCommit, PullOutcome, outcomes_of_pulls
from repoassay.forges.pull import ForgePull
from repoassay.forges.pull_prose import names_in_prose, unsigned_prose
from repoassay.review import HiddenPart, Item, ItemPayload, blinded, leaks_name, opaque_names, scrub_text
from repoassay.text import clip, one_line

__all__ = ["author_kind", "items_of_pulls"]

_TRAILER = re.compile(r"^(?:co-authored-by|generated-by|assisted-by):\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_CREDIT = re.compile(r"\b(?:generated|created|written) (?:with|by)\b.{0,200}", re.IGNORECASE)


def items_of_pulls(pulls: Sequence[ForgePull], seed: int, commits: Sequence[LandedCommit] = ()) -> list[Item]:
    """Return one item a pull request that has a diff, in an order that says nothing.

    Accounts, names and addresses of authors and reviewers and all branches are taken out of every text, and what leads
    to them (`pull_prose`). `evidence["forge"]`
    keeps who made it and what became of it (`PullOutcome`).

    Args:
        pulls: Of an export, those without a diff included: they may revert others.
        seed: Of names and order.
        commits: Of the target branch, where it is at hand: they may revert some, too.
    """
    shown = [pull for pull in pulls if pull.diff]
    names = sorted({name for pull in shown for name in _people(pull) if len(name) > 2})
    names += names_in_prose(names, shown)
    branches = sorted({pull.branch for pull in shown if len(pull.branch) > 4 and pull.branch != pull.target})
    became = outcomes_of_pulls(pulls, commits)
    halves = [_halves(pull, names, branches, became[pull.repository, pull.number]) for pull in shown]
    random.Random(f"items:{seed}").shuffle(halves)  # noqa: S311 - to be repeated
    opaque = opaque_names(seed, len(halves))
    return [
        Item(id=name, payload=payload, hidden=hidden) for name, (payload, hidden) in zip(opaque, halves, strict=True)
    ]


def author_kind(pull: ForgePull) -> tuple[str, tuple[str, ...]]:
    """Tell who made a pull request: `agent`, `app`, `person`, or empty where nothing says, with what shows it.

    A known coding agent or model named by the account, at the start of the branch, in a trailer or in a credit makes
    it an agent's, also under a person's account. What the forge calls a program is an app otherwise.
    """
    texts = [("account", pull.author.login), ("branch", pull.branch.partition("/")[0] if "/" in pull.branch else "")]
    for text in (pull.body, *(commit.message for commit in pull.commits)):
        texts += [("trailer", found[1]) for found in _TRAILER.finditer(text)]
        texts += [("credit", found[0]) for found in _CREDIT.finditer(text)]
    evidence = tuple(dict.fromkeys(f"{where}: {one_line(text)}" for where, text in texts if text and leaks_name(text)))
    if evidence:
        return "agent", evidence
    if pull.author.app is None:
        return "", ()
    word = "a program" if pull.author.app else "a person"
    return ("app" if pull.author.app else "person"), (f"account: the forge calls {one_line(pull.author.login)} {word}",)


def _people(pull: ForgePull) -> set[str]:
    accounts = [pull.author, *(commit.author for commit in pull.commits), *(remark.by for remark in pull.remarks)]
    return {
        text.strip() for each in accounts for text in (each.login.removesuffix("[bot]"), each.name, each.mail) if text
    }


def _halves(
    pull: ForgePull, names: Sequence[str], branches: Sequence[str], outcome: PullOutcome
) -> tuple[ItemPayload, HiddenPart]:
    payload = blinded(_payload(pull, names), names, branches)
    # An issue is not a task's here: whoever made the change may have written it, or be named in it.
    payload = payload.model_copy(update={"issue": scrub_text(payload.issue, names, branches)})
    own, shown = ([[file.old, file.new] for file in read(diff)] for diff in (pull.diff, payload.diff))
    return payload, _hidden(pull, own if own != shown else None, outcome)


def _payload(pull: ForgePull, names: Sequence[str]) -> ItemPayload:
    title, issue, body = (unsigned_prose(text, pull, names) for text in (pull.title, pull.issue_text, pull.body))
    return ItemPayload(title=clip(title, 1000), issue=issue, description=body, diff=pull.diff)


def _hidden(pull: ForgePull, paths: list[list[str | None]] | None, outcome: PullOutcome) -> HiddenPart:
    system, evidence = author_kind(pull)
    kept = {
        "kind": pull.forge, "repository": pull.repository, "number": pull.number, "author": pull.author.login,
        "author_kind": system, "author_evidence": list(evidence),
        "base": pull.base, "start": pull.start, "head": pull.head,
        **asdict(outcome),
    }  # fmt: skip
    if paths is not None:  # raters see other names of files, and a review has to go to these
        kept["paths"] = paths
    return HiddenPart(task=clip(pull.name, 200), system=system, origin=clip(pull.name, 200), evidence={"forge": kept})
