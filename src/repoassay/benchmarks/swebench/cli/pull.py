"""`repoassay swebench pull`: the container images of instances, before their tests run in them."""

from __future__ import annotations

from pathlib import Path

import click

from repoassay.json_output import print_document
from repoassay.options import PATH, isolation_option, json_option

__all__ = ["pull_images"]


@click.command("pull")
@click.option("--dataset", type=PATH, metavar="FILE", help="Rows: JSON, JSONL, CSV, parquet, arrow, or task folders.")
@click.option("--suite", type=PATH, metavar="DIR", help="Instead: a suite that `repoassay tasks import` wrote.")
@click.option("--instance", "instances", multiple=True, metavar="GLOB", help="Only these instances; may be repeated.")
@isolation_option
@json_option
def pull_images(
    dataset: Path | None, suite: Path | None, instances: tuple[str, ...], isolation: str, as_json: bool
) -> None:  # fmt: skip
    """Fetch the images of instances that the container engine does not have yet.

    Nothing else fetches one: a task whose image is not there is answered with ERROR and this remedy. Leaves with 1 when
    an image cannot be had; a repeated call goes on where it was.

    \b
    Examples:
      repoassay swebench pull --dataset verified.jsonl --isolation 'docker@{image}'
      repoassay swebench pull --suite ./verified --isolation 'podman@registry.example.com/{name}'
    """
    from fnmatch import fnmatchcase

    from repoassay.benchmarks.swebench.cli.run import instance_tasks
    from repoassay.errors import BadInput, Unavailable
    from repoassay.sandbox import Cache, TaskImageSandbox, open_sandbox

    store = Cache()
    engine = open_sandbox(isolation, store)
    if not isinstance(engine, TaskImageSandbox):
        raise BadInput("Only images of tasks are pulled.", "Give --isolation podman@{image} or docker@{image}.")
    found = instance_tasks(dataset, suite, ((), None, None), store.path / "rows")
    states: dict[str, str] = {}
    for instance, folder in found.tasks.items():
        image = folder.task.environment.image
        if image is None or (instances and not any(fnmatchcase(instance, glob) for glob in instances)):
            continue
        name = engine.named(image)
        try:
            states[name] = "pulled" if engine.pull_missing(name) else "here"
        except Unavailable as error:
            states[name] = str(error)
        if not as_json:
            click.echo(f"{name}  {states[name]}")
    if as_json:
        print_document({"images": states})
    raise SystemExit(0 if set(states.values()) <= {"here", "pulled"} else 1)
