"""What a user asks to be mined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repoassay.construct.mining.rewriting import InstructionRewriter
from repoassay.construct.mining.rules import MiningRules
from repoassay.construct.task_request import MOST_SECONDS

__all__ = ["MiningRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningRequest:
    """What is to be mined.

    Args:
        since: The first day (`YYYY-MM-DD`, UTC) whose commits count.
        until: The last one.
        most: Commits tried of each repository, those of earlier calls counted; with `update`, new ones. None for all.
        kinds: `edit`, `pull-request` or both; with both, commits with an issue's text become pull-request tasks.
        rules: Which commits may become tasks.
        issues: Texts of issues and pull requests by number.
        proofs: Runs of the tests on each side.
        most_seconds: How long the tests of a commit may take in one run.
        bundle: Whether base trees are stored with the suite; always so for repositories that are a folder or bundle.
        seed: What the draw depends on.
        update: Whether only commits are drawn that no earlier call has seen.
        mirrors: Where repositories of submodules lie, by the URL that `.gitmodules` has.
        rewrite: Asks a model to say instructions in other words.
    """

    since: str | None = None
    until: str | None = None
    most: int | None = None
    kinds: tuple[str, ...] = ("edit",)
    rules: MiningRules = field(default_factory=MiningRules)
    issues: Mapping[int, str] = field(default_factory=dict)
    proofs: int = 3
    most_seconds: float = MOST_SECONDS
    bundle: bool = False
    seed: int = 15
    update: bool = False
    mirrors: Mapping[str, str] = field(default_factory=dict)
    rewrite: InstructionRewriter | None = None
