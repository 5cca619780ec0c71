"""How many Harbor tasks of public repositories are converted, of a draw by a seed, and why the others are refused.

    python measurements/harbor_tasks.py CLONES [--sample 300] [--seed 20] [--json DRAW.json]

CLONES holds a folder a repository. It draws twice: from all tasks at once, where large repositories weigh most, and as
many from each, where each weighs the same. Nothing of a task is run: `repoassay import --prove` does that.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from repoassay.engine import GradingContext
from repoassay.errors import BadInput
from repoassay.interchange import ImportedSuite, import_suite

_SMALL = 20
"""A repository with fewer tasks says little about how tasks are written."""
_REASONS = 40


def no_bench() -> GradingContext:
    """Tasks of Harbor are converted without running anything."""
    raise AssertionError("something was to run")


def drawn(source: Path, sample: int, seed: str) -> ImportedSuite | None:
    """Convert a draw of the tasks below a folder; None where it holds none."""
    with tempfile.TemporaryDirectory(prefix="harbor-tasks-") as place:
        try:
            return import_suite("harbor", source, Path(place, "suite"), no_bench, sample=sample, seed=seed)
        except BadInput:
            return None


def by_repository(clones: Path, sample: int, seed: str) -> dict[str, ImportedSuite]:
    """A draw of each repository: so many of each that they come to about `sample`."""
    folders = [folder for folder in sorted(clones.iterdir()) if folder.is_dir()]
    found = {folder.name: done for folder in folders if (done := drawn(folder, max(1, sample // len(folders)), seed))}
    # Small repositories give all they have; the others make up for what those lack.
    large = {name for name, done in found.items() if done.found >= sample // len(folders)}
    short = sample - sum(done.found for done in found.values())
    if large and short > 0:
        each = sample // len(folders) + -(-short // len(large))
        found |= {name: done for name in large if (done := drawn(clones / name, each, seed))}
    return found


def print_table(draws: dict[str, ImportedSuite]) -> None:
    """Shares by repository, and the mean in which each weighs the same."""
    print("| repository | drawn | converted | share |\n|---|---|---|---|")
    shares = {name: len(done.tasks) / done.found for name, done in draws.items()}
    for name, done in draws.items():
        print(f"| {name.replace('+', '/')} | {done.found} | {len(done.tasks)} | {shares[name]:.0%} |")
    of_size = [share for name, share in shares.items() if draws[name].found >= _SMALL]
    for what, values in ((f"each weighs the same, {_SMALL} tasks or more", of_size), ("all", list(shares.values()))):
        print(f"| {what}: {len(values)} repositories | | | {sum(values) / max(1, len(values)):.0%} |")


def print_reasons(draws: Sequence[ImportedSuite]) -> None:
    """Refusals by reason, the most frequent first."""
    counts = Counter(refusal.why for done in draws for refusal in done.refused)
    for why, count in counts.most_common(_REASONS):
        print(f"{count:6} {why}")


def main() -> None:
    """Print both draws; with --json also write every task that was drawn, with what became of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", default="20")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pooled = drawn(options.clones, options.sample, options.seed)
    if pooled is None:
        raise SystemExit(f"{options.clones} holds no task of Harbor or terminal-bench.")
    print(
        f"Of all at once: {len(pooled.tasks)} of {pooled.found} converted ({len(pooled.tasks) / pooled.found:.0%}).\n"
    )
    draws = by_repository(options.clones, options.sample, options.seed)
    print_table(draws)
    print("\nRefused, of both draws:")
    print_reasons([pooled, *draws.values()])
    if options.json:
        options.json.write_text(
            json.dumps({name: _told(done) for name, done in [("", pooled), *draws.items()]}, indent=1)
        )


def _told(done: ImportedSuite) -> dict[str, Any]:
    return {"found": done.found, "converted": list(done.tasks), "refused": [asdict(each) for each in done.refused]}


if __name__ == "__main__":
    main()
