"""What an agent is told: a template of ours or the user's, filled in for one task."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from repoassay.errors import BadInput
from repoassay.tasks import TaskFolder
from repoassay.types import TaskKind
from repoassay.workspace import BASE_BRANCH, DESCRIPTION, rules_place

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

__all__ = ["render_prompt"]

_LARGEST = 1 << 20


def render_prompt(folder: TaskFolder, template: Path | None = None, repository: str = "/workspace/repo") -> str:
    """The prompt of a task.

    Args:
        folder: The task.
        template: A Jinja template instead of ours. It knows `instruction`, `kind`, `task`, `title`, `repo`, `inputs`,
            `input_files`, `output`, `output_files`, `python`, `workspace`, for state tasks `places` (folders), and for
            pull requests `rules` (where the contribution rules are, or empty), `checks` (commands), `description`
            (where to leave one) and `branch`.
        repository: Where the repository lies, unless it is a state task's.

    Raises:
        BadInput: The template cannot be read or filled in.
    """
    from jinja2 import TemplateError  # 60 ms that commands which start no agent need not wait for

    task = folder.task
    try:
        text = template.read_text("utf-8") if template is not None else _ours(task.kind)
        if len(text) > _LARGEST:
            raise BadInput(f"The prompt template {template} is longer than {_LARGEST} characters.")
        # Templates come from whoever writes suites, so they get no further than these names.
        return (
            _environment()
            .from_string(text)
            .render(
                instruction=folder.instruction.strip(),
                kind=task.kind.value,
                task=task.id,
                title=task.title,
                repo=task.state.work if task.state else repository,
                inputs="/workspace/inputs",
                input_files=list(task.inputs.files),
                output="/workspace/output",
                output_files=list(task.outputs.files),
                python="/env/bin/python",
                workspace=task.state.work if task.state else "/workspace",
                places=list(task.state.places) if task.state else [],
                rules=rules_place(task.rules),
                checks=list(task.environment.checks),
                description=f"/workspace/output/{DESCRIPTION}",
                branch=BASE_BRANCH,
            )
        )
    except (OSError, TemplateError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise BadInput(
            f"The prompt template {template or task.kind.value} cannot be used: {error}.", "See docs/real-agents.md."
        ) from error


@cache
def _environment() -> SandboxedEnvironment:
    from jinja2 import DictLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    return SandboxedEnvironment(
        loader=DictLoader({}), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )


@cache
def _ours(kind: TaskKind) -> str:
    return (Path(str(files("repoassay.agents"))) / "prompts" / f"{kind.value}.md.j2").read_text("utf-8")
