"""Samples that name an image of Docker, and whose metadata are a row we make tasks of: laid out as the image would be.

Tasks of Inspect that run such rows write a compose file for each sample, and score by commands of their own in the
sample's sandbox. So the repository lies where the file says work is done, and no part of a submission is taken from it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from repoassay.engine import GradingContext, OpenAttempt
from repoassay.errors import BadInput, InfraFault
from repoassay.formats import format_of, supplies_of, usable_tasks
from repoassay.records import load_yaml
from repoassay.sandbox import Cache, Sandbox, SandboxSetup, temporary_folder
from repoassay.tasks import TaskFolder
from repoassay.text import quote
from repoassay.types import FileEdit

__all__ = ["open_image_sample"]

_REPOSITORY = "/workspace/repo"
_LONGEST = 4 * 3600.0
"""Seconds such a sandbox may be open: it holds the work and, after it, the tests."""
_SUFFIX = "-compose"
_TAKEN = ("bin", "dev", "env", "etc", "home", "lib", "lib64", "opt", "proc", "run", "sbin", "sys", "tmp", "usr", "var",
          "workspace")  # fmt: skip
_LINK = """\
ln -s "$1" /workspace/repo
cd "$1"
test -z "$2" || git update-ref "refs/replace/$2" HEAD
"""
"""What was built knows the repository by our path; and who asks for the base commit by its name gets our only one."""


def open_image_sample(
    config: str, metadata: Mapping[str, object], cache: Cache, sandbox: Sandbox, scratch: tuple[str, ...]
) -> OpenAttempt:
    """Open the sandbox of a sample whose configuration is a compose file.

    Args:
        config: Path of the compose file; its name begins with the sample's id.
        metadata: What the sample says of itself.
        cache: Where checkouts and environments are kept.
        sandbox: What opens it.
        scratch: Further writable folders.

    Raises:
        BadInput: The file asks for what this sandbox has not, or the sample is no row of a known format.
        InfraFault: The row's task cannot be laid out.
    """
    place = _place(Path(config))
    name = Path(config).stem.removesuffix(_SUFFIX)
    folder, files = _task(name, metadata, cache)

    def as_image(setup: SandboxSetup) -> SandboxSetup:
        mounts = tuple(replace(each, target=place) if each.target == _REPOSITORY else each for each in setup.mounts)
        edits = {path: FileEdit(text.encode()) for path, text in files.items()}
        return replace(
            setup, mounts=mounts, cwd=place, collect=(), scratch=(*setup.scratch, *scratch),
            edits={**setup.edits, **edits},
        )  # fmt: skip

    attempt = OpenAttempt(folder, GradingContext(None, cache, sandbox), _LONGEST, as_image)
    done = attempt.session.exec(["/bin/sh", "-e", "-c", _LINK, "sh", place, folder.task.repository.revision or ""])
    if done.exit.code != 0:
        attempt.close()
        raise InfraFault(f"{name} cannot be laid out at {place}: {done.stderr.decode(errors='replace')[:500]}")
    return attempt


def _place(path: Path) -> str:
    """Where the work is done, by a compose file of one service without a network."""
    try:
        document = load_yaml(path.read_text("utf-8"))
        services = document["services"]
        (service,) = services.values()
        place = str(service["working_dir"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(
            f"{quote(path)} is no compose file of one service with a working_dir.",
            "This sandbox takes no other; give a SampleConfig.",
        ) from None
    if service.get("network_mode") != "none":
        raise BadInput(f"{quote(path)} asks for a network, which this sandbox has not.", "Evaluate without internet.")
    if PurePosixPath("/", PurePosixPath(place).name) != PurePosixPath(place) or place[1:] in _TAKEN:
        raise BadInput(f"{quote(path)} works in {quote(place)}.", "Here it must be a new folder right below /.")
    return place


def _task(name: str, metadata: Mapping[str, object], cache: Cache) -> tuple[TaskFolder, Mapping[str, str]]:
    """The task of the row that a sample's metadata are, and what else its images hold, by path."""
    record: dict[Any, Any] = dict(metadata)
    if format_of(record) is None:
        raise BadInput(f"The metadata of {quote(name)} are no row of a known format.", "Give a SampleConfig.")
    # What Inspect's tasks take out of a row.
    record = {"problem_statement": "It stands in the sample.", **record, "instance_id": name}
    places = [os.environ.get(variable) for variable in ("REPOASSAY_MIRRORS", "REPOASSAY_ENVIRONMENTS")]
    supplies = supplies_of((), *(Path(each) if each else None for each in places))
    with temporary_folder("row") as scratch:
        rows = Path(scratch, "rows.json")
        rows.write_text(json.dumps([record], default=str), "utf-8")
        found = usable_tasks(rows, cache.path / "rows", supplies)
    return next(iter(found.tasks.values())), getattr(format_of(record), "IMAGE_FILES", {})
