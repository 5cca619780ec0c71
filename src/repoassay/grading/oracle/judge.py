"""The judge, as the host sees it: a confined interpreter decides withheld checks on values from other sandboxes."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.grading.oracle.judge_program import PLACE
from repoassay.grading.oracle.nodes import check
from repoassay.sandbox import Cache, WarmJob, WarmParent
from repoassay.types import Ended, Exit, FileEdit, Limits

__all__ = ["OracleJudge", "WithheldCheck"]

_LOG = logging.getLogger("repoassay.grading")
_HERE = Path(__file__).parent
_PARTS = ("forms", "nodes", "values", "comparing")
_LIMITS = Limits(seconds=30, memory=640 * 2**20, disk=16 * 2**20, processes=64, output=2**16)
"""A job ends itself at its CPU time and 512 MiB; these hold should it not."""
_DEATHS = 3


@dataclass(frozen=True, slots=True)
class WithheldCheck:
    """An expression over `_0`, `_1`, ... and the nodes of these values."""

    expression: str
    values: Sequence[object]


class OracleJudge:
    """Decides checks, each call in a fork of its own without network; safe for threads; to be closed when done.

    Args:
        cache: Whose mountpoint its sandbox uses.
        slots: How many calls at a time.
        seconds: CPU time after which a check is given up, together with those before it in the same call;
            half as much after each time.
    """

    def __init__(self, cache: Cache, *, slots: int = 2, seconds: int = 3) -> None:
        self._cache, self._slots, self._seconds = cache, slots, seconds
        self._parent: WarmParent | None = None
        self._lock = threading.Lock()

    def decide(self, definitions: str, checks: Sequence[WithheldCheck]) -> list[str]:
        """Answer `holds`, `fails` or `error: TEXT` for each check, in order.

        A check that takes too long or too much memory is an `error: time` or `error: memory`; after three of them
        the rest of the call is not decided (`error: time`) either.

        Args:
            definitions: Source run before the checks: imports of the standard library's modules, and constants.
            checks: What to decide.

        Raises:
            InfraFault: When the judge cannot be started.
        """
        answers = [_refusal(each) for each in checks]
        open_ = [number for number, answer in enumerate(answers) if not answer]
        for deaths in range(_DEATHS):
            if not open_:
                return answers
            seconds = max(1, self._seconds >> deaths)
            replies, ended = self._ask(definitions, [checks[number] for number in open_], seconds)
            replies = (*replies, ended)[: len(open_)]
            for number, answer in zip(open_, replies, strict=False):
                answers[number] = answer
            open_ = open_[len(replies) :]
        return [answer or "error: time" for answer in answers]

    def _ask(self, definitions: str, checks: Sequence[WithheldCheck], seconds: int) -> tuple[tuple[str, ...], str]:
        """The answers of one job, and what to say of the check at which it ended early."""
        document = json.dumps([(each.expression, each.values) for each in checks])
        facts = {"definitions": definitions, "checks": document, "seconds": seconds}
        job = WarmJob(None, None, {}, facts, _LIMITS)
        parent = self._running()
        try:
            done = parent.run(job)
        except InfraFault as fault:
            _LOG.info("judge replaced: %s", fault)
            self._drop(parent)
            done = self._running().run(job)
        lines = done.channel.split(b"\n")[:-1]
        return tuple(str(json.loads(line)) for line in lines), _why(done.exit)

    def _running(self) -> WarmParent:
        with self._lock:
            if self._parent is None:
                nothing = self._cache.path / "nothing"
                nothing.mkdir(exist_ok=True)
                self._parent = WarmParent(
                    nothing, _HERE / "judge_program.py", self._cache, self._slots, (), _LIMITS, _files()
                )
            return self._parent

    def _drop(self, parent: WarmParent) -> None:
        with self._lock:
            if self._parent is parent:
                self._parent = None
                parent.close()

    def close(self) -> None:
        """End the judge; it would start again when asked."""
        with self._lock:
            parent, self._parent = self._parent, None
        if parent:
            parent.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at the end of the interpreter much is gone, the parent's pipe too
            self.close()

    def __enter__(self) -> OracleJudge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _files() -> Mapping[str, FileEdit | None]:
    """The modules the judge decodes and compares with, as a package of their own."""
    packages = ("repoassay", "repoassay/grading", "repoassay/grading/oracle")
    files = {f"{PLACE}/{package}/__init__.py": FileEdit(b"") for package in packages}
    return files | {
        f"{PLACE}/{packages[-1]}/{name}.py": FileEdit((_HERE / f"{name}.py").read_bytes()) for name in _PARTS
    }


def _refusal(withheld: WithheldCheck) -> str:
    try:
        for node in withheld.values:
            check(node)
    except ValueError as error:
        return f"error: ValueError: {error}"
    return ""


def _why(ended: Exit) -> str:
    if ended.ended is Ended.OUT_OF_MEMORY:
        return "error: memory"
    if ended.ended is Ended.TIMED_OUT or ended.signal in (9, 24):
        return "error: time"
    return f"error: the judge ended ({ended.ended.value}, {ended.code if ended.code is not None else ended.signal})"
