"""Withheld assertions of JavaScript tests, decided on values that came out of a sandbox, in a sandbox of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.sandbox import Command, Sandbox, node_program
from repoassay.types import Ended, FileEdit, Limits

__all__ = ["decide"]

_HERE = Path(__file__).parent
_PARTS = ("javascript_judge.cjs", "javascript_decode.cjs")
_LIMITS = Limits(seconds=60.0, memory=1024 * 2**20, disk=2**20, processes=32, output=2**16)


def decide(
    definitions: str,
    checks: Sequence[tuple[str, Sequence[object]]],
    sandbox: Sandbox,
    *,
    cancel: threading.Event | None = None,
) -> list[str]:
    """What each check comes to on its operands: `holds`, `fails`, or `error: ...` when it could not be made.

    A check is the `check` of a withheld `AssertionSite` and the operands of one observation. Each has two seconds; what
    the whole takes too long for, or too much memory, is an error of every check.

    Raises:
        InfraFault: When the judge could not be started.
    """
    if not checks:
        return []
    asked = ",".join(_asked(expression, operands) for expression, operands in checks)
    job = f'{{"definitions":{json.dumps(definitions)},"checks":[{asked}]}}'
    done = sandbox.run(
        Command(
            argv=(node_program(), "--no-warnings", "--max-old-space-size=512", f"/run/{_PARTS[0]}"),
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "NODE_ENV": "test"},
            cwd="/tmp",  # noqa: S108 - inside the sandbox
            stdin=job.encode(),
            edits={f"/run/{name}": FileEdit((_HERE / name).read_bytes()) for name in _PARTS},
            limits=_LIMITS,
            channel=True,
        ),
        cancel,
    )
    ready, _, told = done.channel.partition(b"\n")
    if ready != b"ready" and done.exit.ended is Ended.EXITED:
        said = done.stderr.decode(errors="replace").strip()[-500:]
        raise InfraFault(f"The judge of JavaScript values could not be started: {said}")
    try:
        answers = json.loads(told)
    except ValueError:  # a stranger's values ended it: that is no fault of ours
        return [f"error: the judge {done.exit.ended.value} before it had decided"] * len(checks)
    return [str(answer) for answer in answers]


def _asked(expression: str, operands: Sequence[object]) -> str:
    """One check as JSON; operands too deep for it become one that is of no kind."""
    try:
        return json.dumps([expression, list(operands)])
    except RecursionError:
        return json.dumps([expression, [["too deep"]]])
