"""What the oracle asks of a language of tests: rewriting, comparing values, and deciding withheld checks."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from repoassay.errors import InfraFault
from repoassay.grading.hidden_tests.parsing import parse
from repoassay.grading.oracle import javascript_bits, nodes
from repoassay.grading.oracle.alteration import Alterable, alterables
from repoassay.grading.oracle.bare_tests import HelperFile, endings, origins_of
from repoassay.grading.oracle.bits import bits_of
from repoassay.grading.oracle.judge import OracleJudge
from repoassay.grading.oracle.quick_decision import DecisionQuestion, decide
from repoassay.grading.oracle.rewrite import rewrite
from repoassay.grading.oracle.sites import Rewritten, SiteMode
from repoassay.sandbox import Command, Sandbox, node_program
from repoassay.types import Ended, FileEdit, Limits

if TYPE_CHECKING:
    from repoassay.grading.oracle.reference import Occurrence

__all__ = ["JavaScript", "Language", "Python", "decide_javascript"]


class Language(Protocol):
    """One language of hidden tests."""

    def rewrite(self, source: str, modes: Mapping[int, SiteMode], *, script: bool) -> Rewritten:
        """A test file without what it expects; raises SyntaxError or ValueError for one that cannot be read."""

    def alike(self, first: Sequence[Any], second: Sequence[Any]) -> bool:
        """Whether two rows of operands are the same."""

    def opaque(self, operands: Sequence[Any]) -> bool:
        """Whether something in a row of operands is known by its type alone."""

    def decide(self, questions: Sequence[DecisionQuestion], definitions: str) -> list[str]:
        """Answer `holds`, `fails` or `error: TEXT` for each; raises InfraFault when the judge cannot be started."""

    def function(self, test: str) -> str:
        """A test's function as sites name it."""

    def alterables(
        self, name: str, read: Callable[[str], str | None], base: Path, tests: Collection[str]
    ) -> dict[str, list[Alterable]]:
        """What can be altered in these test functions of a file; raises SyntaxError or ValueError as `rewrite` does.

        `read` returns the text of a path of the test set-up, None where there is none.
        """

    def bits(
        self, files: Mapping[str, Rewritten], expected: Mapping[str, Sequence[Occurrence]], instruction: str, base: Path
    ) -> tuple[dict[str, float], float]:
        """What a forger would have to guess of each test, and of the task."""


class Python:
    """Tests for pytest and unittest, and plain scripts.

    Args:
        judge: Decides what cannot be decided here.
    """

    def __init__(self, judge: OracleJudge) -> None:
        self._judge = judge

    def rewrite(self, source: str, modes: Mapping[int, SiteMode], *, script: bool) -> Rewritten:
        """See `Language`."""
        del script
        return rewrite(source, modes)

    def alike(self, first: Sequence[Any], second: Sequence[Any]) -> bool:
        """See `Language`."""
        return nodes.alike(first, second)

    def opaque(self, operands: Sequence[Any]) -> bool:
        """See `Language`."""
        return nodes.opaque(operands)

    def decide(self, questions: Sequence[DecisionQuestion], definitions: str) -> list[str]:
        """See `Language`."""
        return decide(questions, definitions, self._judge)

    def function(self, test: str) -> str:
        """See `Language`; parameters do not belong to it."""
        return test.partition("::")[2].partition("[")[0]

    def alterables(
        self, name: str, read: Callable[[str], str | None], base: Path, tests: Collection[str]
    ) -> dict[str, list[Alterable]]:
        """See `Language`; of a test in which nothing can be altered, its end."""
        source = read(name) or ""
        file = HelperFile(name, parse(source), read)
        origins = origins_of(file.tree, sorted(tests))
        wanted = {*tests, *origins.values()}
        found = alterables(source, base, tests=wanted, file=file)
        for test, (span, failure, line) in endings(source, wanted - found.keys()).items():
            found[test] = [Alterable(test, (span,), (("",), (failure,)), telling=False, statement=line, ending=True)]
        for test, origin in origins.items():
            if origin in found:
                found[test] = [replace(place, test=test) for place in found.pop(origin)]
        return found

    def bits(
        self, files: Mapping[str, Rewritten], expected: Mapping[str, Sequence[Occurrence]], instruction: str, base: Path
    ) -> tuple[dict[str, float], float]:
        """See `Language`."""
        return bits_of(files, expected, instruction, base)


class JavaScript:
    """Tests for node's runner, and plain scripts.

    Args:
        sandbox: Where withheld checks are decided.
        in_place: Whether they run with the repository's own runner, which leaves every assertion inside.
    """

    def __init__(self, sandbox: Sandbox, *, in_place: bool = False) -> None:
        self._sandbox, self._in_place = sandbox, in_place

    def rewrite(self, source: str, modes: Mapping[int, SiteMode], *, script: bool) -> Rewritten:
        """See `Language`; a site that does not hold outside stays as it was."""
        if self._in_place:
            raise ValueError("tests of other runners are not rewritten")
        from repoassay.grading.oracle.javascript import rewrite as rewrite_javascript

        return rewrite_javascript(source, tuple(modes), script=script)

    def alike(self, first: Sequence[Any], second: Sequence[Any]) -> bool:
        """See `Language`."""
        from repoassay.grading.oracle.javascript_values import same_javascript_value

        return len(first) == len(second) and all(map(same_javascript_value, first, second))

    def opaque(self, operands: Sequence[Any]) -> bool:
        """See `Language`."""
        from repoassay.grading.oracle.javascript_values import tells

        return not all(map(tells, operands))

    def decide(self, questions: Sequence[DecisionQuestion], definitions: str) -> list[str]:
        """See `Language`."""
        if not questions:
            return []
        return decide_javascript(definitions, [(each.site.check, each.nodes) for each in questions], self._sandbox)

    def function(self, test: str) -> str:
        """See `Language`."""
        return test.partition("::")[2]

    def alterables(
        self, name: str, read: Callable[[str], str | None], base: Path, tests: Collection[str]
    ) -> dict[str, list[Alterable]]:
        """See `Language`."""
        from repoassay.grading.oracle.javascript_alteration import find_alterables

        del base
        return {test: each for test, each in find_alterables(read(name) or "", tests).items() if test in tests}

    def bits(
        self, files: Mapping[str, Rewritten], expected: Mapping[str, Sequence[Occurrence]], instruction: str, base: Path
    ) -> tuple[dict[str, float], float]:
        """See `Language`."""
        del base
        return javascript_bits.bits_of(files, expected, instruction)


_HERE = Path(__file__).parent
_PARTS = ("javascript_judge.cjs", "javascript_decode.cjs")
_LIMITS = Limits(seconds=60.0, memory=1024 * 2**20, disk=2**20, processes=32, output=2**16)


def decide_javascript(
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
    calls = ",".join(_check_as_json(expression, operands) for expression, operands in checks)
    job = f'{{"definitions":{json.dumps(definitions)},"checks":[{calls}]}}'
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
    ready, _, reply = done.channel.partition(b"\n")
    if ready != b"ready" and done.exit.ended is Ended.EXITED:
        message = done.stderr.decode(errors="replace").strip()[-500:]
        raise InfraFault(f"The judge of JavaScript values could not be started: {message}")
    try:
        answers = json.loads(reply)
    except ValueError:  # a stranger's values ended it: that is no fault of ours
        return [f"error: the judge {done.exit.ended.value} before it had decided"] * len(checks)
    return [str(answer) for answer in answers]


def _check_as_json(expression: str, operands: Sequence[object]) -> str:
    """One check as JSON; operands too deep for it become one that is of no kind."""
    try:
        return json.dumps([expression, list(operands)])
    except RecursionError:
        return json.dumps([expression, [["too deep"]]])
