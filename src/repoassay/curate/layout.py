"""A pooled repository laid out as a task is: its pinned tree, and an environment installed as of its day."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from repoassay.construct import EnvironmentRecipe, Inference, Project, infer
from repoassay.curate.candidates import project_of
from repoassay.curate.pool import PooledRepository
from repoassay.errors import BadInput, InfraFault, Unavailable
from repoassay.formats import REQUIREMENTS
from repoassay.sandbox import Cache, Sandbox
from repoassay.tasks import TaskFolder, digest_folder
from repoassay.text import printable
from repoassay.types import Criterion, Environment, Grading, Outputs, Repository, Task, TaskKind
from repoassay.workspace import PreparedTask, how_to_get, lay_out, release_lines

__all__ = [
    "InstalledRepository",
    "environment_of",
    "import_names",
    "inference_of",
    "install_pooled",
    "prepare",
    "today",
]

_MOST_LINES = 3
"""Release lines of Python that are tried."""


@dataclass(frozen=True, slots=True)
class InstalledRepository:
    """A repository that could be installed: its environment as task.toml has it, it laid out, and for which Python."""

    environment: Environment
    requirements: str
    layout: PreparedTask
    derivation: tuple[str, ...]
    line: str


def inference_of(pooled: PooledRepository) -> tuple[Project, Inference]:
    """What the repository says of its environment, as of its day.

    Raises:
        BadInput: When nobody says its day.
        Unavailable: When this machine has no Python for it.
    """
    if pooled.day is None:
        raise BadInput(
            f"Nobody says of what day {pooled.name} is.", "Give its upload day in the metadata file and select again."
        )
    project = project_of(pooled.tree)
    found = infer(project, project, pooled.day, None, list(release_lines()))
    if not found.lines:
        raise Unavailable("This machine has no Python of which an environment can be made.", how_to_get("3.11"))
    return project, found


def install_pooled(
    pooled: PooledRepository, into: Path, cache: Cache, sandbox: Sandbox, step: Callable[[str], None],
    apart_from: Collection[str] = (),
) -> tuple[InstalledRepository | None, tuple[str, ...]]:  # fmt: skip
    """Install a repository as of its day, with the likeliest Python first.

    Args:
        pooled: Which.
        into: A scratch folder.
        cache: Where checkouts and environments are kept.
        sandbox: Where they are built.
        step: Told of each attempt.
        apart_from: Release lines of Python that are not tried.

    Returns:
        It installed, or None; and a sentence for each recipe that was given up.
    """
    _, inference = inference_of(pooled)
    given_up: list[str] = []
    for line in [each for each in inference.lines if each not in apart_from][:_MOST_LINES]:
        recipe = inference.recipe(line)
        step(f"installing for Python {line}, packages as of {recipe.exclude_newer}")
        environment = environment_of(recipe)
        listed = "".join(f"{each}\n" for each in recipe.requirements)
        try:
            layout = prepare(pooled, environment, listed, into / line, cache, sandbox)
        except InfraFault as error:
            given_up.append(f"Python {line}: {printable(' '.join(error.message.split())[-600:], 600)}")
            continue
        return InstalledRepository(environment, listed, layout, recipe.derivation, line), tuple(given_up)
    return None, tuple(given_up)


def environment_of(recipe: EnvironmentRecipe) -> Environment:
    """The recipe as task.toml has it."""
    return Environment(
        python=recipe.python, resolve=REQUIREMENTS, exclude_newer=recipe.exclude_newer, build=recipe.build,
        variables=dict(recipe.variables), path=recipe.path,
    )  # fmt: skip


def prepare(
    pooled: PooledRepository, environment: Environment, requirements: str, folder: Path, cache: Cache, sandbox: Sandbox,
    inputs: Sequence[Path] = (),
) -> PreparedTask:  # fmt: skip
    """Lay the repository out as a task of its own would be, with these inputs.

    Raises:
        InfraFault: When it cannot be built; the reason is the installer's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / REQUIREMENTS
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(requirements, "utf-8")
    for path in inputs:
        (folder / "inputs").mkdir(exist_ok=True)
        (folder / "inputs" / path.name).write_bytes(path.read_bytes())
    (folder / "repository.txt").write_text(str(pooled.source.get("tree")), "utf-8")
    nothing: dict[str, Any] = {"metric": "opens", "of": "output.txt", "equals": 1, "options": {"format": "text"}}
    task = Task(
        id=pooled.name, title=f"Use of {pooled.name}", kind=TaskKind.DELIVERABLE, domain="curation",
        repository=Repository(source=f"bundled:{pooled.name}", licence=pooled.licence), environment=environment,
        outputs=Outputs(files=("output.txt",)), grading=Grading(result=(Criterion(**nothing),)),
    )  # fmt: skip
    laid = TaskFolder(folder, task, "Nothing is asked.\n", digest_folder(folder))
    return lay_out(laid, pooled.repositories, cache, sandbox)


def import_names(project: Project) -> tuple[str, ...]:
    """What a distribution's packages and modules are imported as: folders with `__init__.py`, and single modules."""
    found: dict[str, None] = {}
    for path in sorted(project.files):
        parts = PurePosixPath(path).parts
        parts = parts[1:] if parts[0] == "src" and len(parts) > 1 else parts
        if len(parts) == 2 and parts[1] == "__init__.py":
            found[parts[0]] = None
        elif len(parts) == 1 and parts[0].endswith(".py"):
            found[parts[0].removesuffix(".py")] = None
    return tuple(name for name in found if name.isidentifier() and name not in _NOT_IMPORTED)


_NOT_IMPORTED = frozenset(
    (  # noqa: SIM905 - a list of words
        "setup conftest tests test testing docs doc examples example fabfile noxfile tasks versioneer benchmarks tools"
        " benchmark scripts bin utils make"
    ).split()
)


def today() -> datetime.date:
    """The day (UTC)."""
    return datetime.datetime.now(datetime.UTC).date()
