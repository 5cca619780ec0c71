"""`repoassay swebench`: predictions in, verdicts and SWE-bench's reports out."""

from __future__ import annotations

import click

from repoassay.benchmarks.swebench.cli.pull import pull_images
from repoassay.benchmarks.swebench.cli.run import run

__all__ = ["swebench"]


@click.group()
def swebench() -> None:
    """Evaluate predictions on SWE-bench's rows, and write the reports that its own tools write.

    \b
    Examples:
      repoassay swebench run --predictions preds.jsonl --dataset rows.jsonl --mirrors ./repositories
      repoassay swebench run --predictions gold --suite ./verified --workers 2
      repoassay swebench pull --suite ./verified --isolation 'docker@{image}'
    """


swebench.add_command(run)
swebench.add_command(pull_images)
