"""Environments of Node tried in turn, until a repository's own tests run in one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from repoassay.construct.history import HistoryEntry
from repoassay.construct.node.recipe import NodeRecipe
from repoassay.construct.task_draft import TaskDraft
from repoassay.construct.trial import RecipeTrial, run_recipe
from repoassay.errors import DiskFull, InfraFault
from repoassay.grading import count_tests
from repoassay.sandbox import Sandbox
from repoassay.text import printable
from repoassay.workspace import PreparedTask

__all__ = ["try_node_recipes"]

_GOOD = 0.05
"""The share of lost tests with which no further recipe is tried."""


def try_node_recipes(
    draft: TaskDraft,
    recipes: Sequence[NodeRecipe],
    lay: Callable[[TaskDraft], PreparedTask],
    tree: Mapping[str, HistoryEntry],
    read: Callable[[HistoryEntry], bytes],
    sandbox: Sandbox,
    step: Callable[[str], None],
) -> tuple[RecipeTrial | None, list[str]]:
    """Try recipes in order until one loses next to no test; see `try_recipes`, of which this is the counterpart.

    Raises:
        Unavailable: When this machine has no Node that will do.
    """
    best: RecipeTrial | None = None
    given_up: list[str] = []
    for recipe in recipes:
        step(f"trying packages {recipe.words}")
        run = partial(run_recipe, lay=lay, tree=tree, read=read, sandbox=sandbox, count=count_tests)
        try:
            trial = run(draft.with_environment(recipe.environment, recipe.derivation))
            built = trial.draft.built_before() if trial.ended and trial.lost > _GOOD else None
            if built is not None:
                step(f"{trial.complaint}: trying again with what is built before")
                again = run(built)
                trial = again if again.ended and again.lost < trial.lost else trial
        except DiskFull:
            raise
        except InfraFault as error:
            why = printable(" ".join(error.message.split()), 600)
            given_up.append(f"Packages {recipe.words}: {why}")
            step(f"not with packages {recipe.words}: {why}")
            continue
        if best is None or (not trial.ended, trial.lost) < (not best.ended, best.lost):
            best = trial
        if trial.ended and trial.lost <= _GOOD:
            break
        given_up.append(f"Packages {recipe.words}: {trial.complaint}.")
        step(f"not only with packages {recipe.words}: {trial.complaint}")
        if not trial.ended:
            break
    return best, given_up
