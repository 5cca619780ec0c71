"""Stages of a Dockerfile that only make files for the last one: run in its folders first, and cleared away again.

A stage has folders of its own in Docker. Here its files lie among those of the last stage while its commands run; then
what later stages copy is put by, all else that it has or left is removed, and it must not have written over anything.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from repoassay.interchange.image_file import ImageRecipe
from repoassay.interchange.state_task import is_free

__all__ = ["ImageStage", "copy_command", "join_stages", "package_of"]

_HELD = '"$DOWNLOADS"/stage-{number}'


@dataclass(slots=True)
class ImageStage:
    """A stage whose commands run: its number from 0, what it is made of, and what later ones copy out of it."""

    number: int
    recipe: ImageRecipe
    copied: list[str] = field(default_factory=list)


def copy_command(stage: ImageStage, source: str, target: str, *, into_folder: bool) -> str:
    """The command that puts at `target` what a stage has at `source`."""
    stage.copied.append(source)
    held = f"{_HELD.format(number=stage.number)}{shlex.quote(source)}"
    place = shlex.quote(target)
    file = f"{place}/{shlex.quote(PurePosixPath(source).name)}" if into_folder else place
    return (
        f"if [ -d {held} ]; then mkdir -p {place} && cp -a {held}/. {place}/;"
        f' else mkdir -p "$(dirname {file})" && cp -a {held} {file}; fi'
    )


def join_stages(stages: list[ImageStage], last: ImageRecipe) -> None:
    """Make earlier stages part of the last one's recipe, in the order in which they stand.

    Raises:
        ValueError: Two of them have a file at the same place.
    """
    recipes = [*(stage.recipe for stage in stages), last]
    if len({place for recipe in recipes for place in recipe.files}) < sum(len(recipe.files) for recipe in recipes):
        raise ValueError("Its Dockerfile builds in several stages, which have files at the same place.")
    for stage in stages:  # a stage may leave what is copied where none of its files lies
        parents = (str(PurePosixPath(source).parent) for source in stage.copied if is_free(source))
        stage.recipe.folders += dict.fromkeys(parents)
    named = {package_of(wanted) for wanted in last.pip}
    tops = sorted({f"/{PurePosixPath(folder).parts[1]}" for recipe in recipes for folder in _folders(recipe)})
    for stage in stages:
        last.pip += [wanted for wanted in stage.recipe.pip if package_of(wanted) not in named]
        last.apt += stage.recipe.apt
        last.folders += stage.recipe.folders
        last.venvs += stage.recipe.venvs
        last.hosts |= stage.recipe.hosts
    last.build[:0] = [_run(stage, tops) for stage in stages]
    for stage in stages:
        last.files |= stage.recipe.files


def _folders(recipe: ImageRecipe) -> list[str]:
    return [folder for folder in (*recipe.folders, *recipe.files) if len(PurePosixPath(folder).parts) > 1]


def _run(stage: ImageStage, tops: list[str]) -> str:
    """The command that runs a stage and clears it away."""
    held = _HELD.format(number=stage.number)
    where = " ".join(map(shlex.quote, tops))
    files = f"find {where} \\( -type f -o -type l \\)"
    own = " ".join(map(shlex.quote, stage.recipe.files))
    steps = [
        f"mkdir -p {held}",
        f"{files} | sort >{held}.before",
        f"touch {held}.start",
        "sleep 0.1",
        *(f"({command})" for command in stage.recipe.build),
        *(_hold(source, held) for source in dict.fromkeys(stage.copied)),
        *([f"rm -f {own}"] if own else []),
        f"{files} -cnewer {held}.start | sort >{held}.after",
        f'{{ [ -z "$(comm -12 {held}.before {held}.after)" ]'
        ' || { echo "A stage of the Dockerfile wrote over files of another." >&2; false; }; }',
        f"{files} -cnewer {held}.start -delete",
    ]
    return " &&\n".join(steps)


def _hold(source: str, held: str) -> str:
    """The command that puts by what later stages copy."""
    place = shlex.quote(source)
    return f'mkdir -p {held}"$(dirname {place})" && cp -a {place} {held}{place}'


def package_of(wanted: str) -> str:
    """The name in a requirement, with hyphens."""
    return re.split(r"[\s\[=<>~!;@]", wanted, maxsplit=1)[0].lower().replace("_", "-")
