"""Exceptions to the rules of the house, kept in `tests/house/*.txt`: they only become fewer.

With REPOASSAY_GOLDEN=write what is no longer needed is taken out; nothing is ever put in.
"""

from __future__ import annotations

import gc
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from goldens import WRITING
from house_tree import Tree

__all__ = ["HOUSE", "ROOT", "assert_only", "house_tree", "read_list"]

ROOT = Path(__file__).parents[1]
HOUSE = Path(__file__).parent / "house"


@cache
def house_tree() -> Tree:
    """The package as scripts/house_stats.toml describes it."""
    settings = tomllib.loads((ROOT / "scripts" / "house_stats.toml").read_text("utf-8"))
    tree = Tree(ROOT / settings["package"], settings["outside"], settings["guests"])
    gc.disable()  # two million nodes and no cycle among them: to walk them takes longer than to make them
    assert [module.syntax for module in tree.modules.values()]
    gc.freeze()
    gc.enable()
    return tree


def read_list(name: str) -> list[str]:
    """The entries of a list; lines that begin with # are remarks."""
    lines = (HOUSE / name).read_text("utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def assert_only(name: str, breaches: Iterable[str], rule: str) -> None:
    """Allow exactly the breaches that are listed.

    Args:
        name: File of the list.
        breaches: What breaks the rule now.
        rule: A sentence that says what to do instead.
    """
    listed, now = read_list(name), set(breaches)
    if WRITING and not now.issuperset(listed):
        head = [line for line in (HOUSE / name).read_text("utf-8").splitlines() if line.startswith("#")]
        listed = [entry for entry in listed if entry in now]
        (HOUSE / name).write_text("\n".join([*head, *listed]) + "\n", "utf-8")
    new = sorted(now.difference(listed))
    assert not new, f"{rule} New: {', '.join(new)}"
    needless = [entry for entry in listed if entry not in now]
    assert not needless, (
        f"tests/house/{name} lists what is not there any more; take it out (REPOASSAY_GOLDEN=write does): "
        f"{', '.join(needless)}"
    )
