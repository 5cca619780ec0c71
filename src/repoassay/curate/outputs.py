"""Outputs to accept and to refuse: made in the sandbox by programs of the draft, or taken from its files."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

from repoassay.agents import in_workspace
from repoassay.curate.draft_file import DraftFile, DraftOutput
from repoassay.errors import BadInput
from repoassay.sandbox import ExportSpec, Sandbox, remove_tree
from repoassay.text import printable, quote
from repoassay.types import FileEdit
from repoassay.workspace import PreparedTask

__all__ = ["make_outputs", "run_program"]

_PROGRAM = "/run/solution/solve.py"


def make_outputs(
    draft: DraftFile, folder: Path, layout: PreparedTask, sandbox: Sandbox, into: Path, step: Callable[[str], None]
) -> None:
    """Make every output of a draft, `into/reference`, `into/accepting/NAME` and `into/refusing/NAME`.

    Raises:
        BadInput: When the reference program or one of an output to accept fails, a text to replace does not occur, or
            one of several inputs reads a file that is not given.
    """
    remove_tree(into)
    source = (folder / draft.reference).read_text("utf-8")
    step("running the reference program")
    run_program(source, "the reference program", draft, layout, sandbox, into / "reference")
    for kind, several in (("accepting", draft.accepting), ("refusing", draft.refusing)):
        for each in several:
            step(f"making {each.name}, to be {'accepted' if kind == 'accepting' else 'refused'}")
            place = into / kind / each.name
            if each.files:
                shutil.copytree(folder / each.files, place)
                continue
            program = _program(each, source, folder)
            run_program(program, each.name, draft, layout, sandbox, place, must_work=kind == "accepting")


def _program(output: DraftOutput, reference: str, folder: Path) -> str:
    source = (folder / output.program).read_text("utf-8") if output.program else reference
    for old, new in output.replace.items():
        if old not in source:
            raise BadInput(
                f"The output {quote(output.name)} replaces {quote(old[:80])}, which the reference has not.",
                "Correct it in the draft.",
            )
        source = source.replace(old, new)
    return f"{source}\n{output.append}\n" if output.append else source


def run_program(
    source: str, what: str, draft: DraftFile, layout: PreparedTask, sandbox: Sandbox, into: Path, *,
    must_work: bool = True,
) -> None:  # fmt: skip
    """Run a program in the task's workspace, with no network, and keep what it left of the outputs asked for.

    Raises:
        BadInput: When it fails or leaves an output out, and must not.
    """
    into.mkdir(parents=True)
    command = in_workspace(
        layout, draft.limits, ("/env/bin/python", "-B", _PROGRAM), edits={_PROGRAM: FileEdit(source.encode())}
    )
    command = dataclasses.replace(command, collect=(ExportSpec("/workspace/output", into),))
    done = sandbox.run(command)
    lacking = [name for name in draft.task.outputs if not (into / name).is_file()]
    for path in sorted(into.rglob("*")):
        if path.is_file() and path.relative_to(into).as_posix() not in draft.task.outputs:
            path.unlink()
    if must_work and (done.exit.code != 0 or lacking):
        message = printable(done.stderr.decode(errors="replace").strip().rpartition("\n")[2], 300)
        left = f" and left no {lacking[0]}" if lacking else ""
        ended = f"{what[:1].upper()}{what[1:]} ended with {done.exit.code}{left}"
        raise BadInput(f"{ended}: {message}." if message else f"{ended}.", "Correct the program.")
