"""One attack on one task, by both harnesses."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from repoassay.attacks.attack import Attack, AttackOrigin
from repoassay.attacks.patch_builder import created
from repoassay.attacks.plain_harness import PlainVerdict, plainly
from repoassay.attacks.target import Language, Target, aim
from repoassay.engine import GradingContext, SubmissionEngine, word
from repoassay.errors import InfraFault
from repoassay.tasks import TaskFolder
from repoassay.types import Outcome, Record, Verdict
from repoassay.workspace import PreparedTask, lay_out

__all__ = ["AttackGround", "Trial", "run_trial"]


class Trial(Record):
    """What two harnesses said of one attack on one task.

    `plain` and `report` are a plain harness's answers by exit code and by report, None where it was not asked. `said`
    is RES-Q's word for the verdict; `grade` and `bits` are its assurance, where it has one. `fooled` are tests that had
    to fail and were reported passed.
    """

    task: str
    task_digest: str
    attack: str
    digest: str
    family: str
    language: Language | None
    origin: AttackOrigin
    plain: str | None
    report: str | None
    said: str
    outcome: Outcome
    grade: str | None
    bits: float | None
    fooled: tuple[str, ...]
    comment: str = ""
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether the attack obtained a pass from the submission environment, however assured."""
        return self.said == "PASS"

    @property
    def believed(self) -> bool:
        """Whether a plain harness believed it."""
        return "PASS" in (self.plain, self.report)


@dataclass(slots=True)
class AttackGround:
    """A task laid out to be attacked, and what it is attacked through.

    `name` is what the engine knows the task by, where that is not its id.

    `believes` is whether the plain harness passes the solution and fails the base, without which its answers say
    nothing; found out when first asked.
    """

    folder: TaskFolder
    engine: SubmissionEngine
    bench: GradingContext
    seconds: float = 30.0
    name: str = ""
    layout: PreparedTask = field(init=False)
    target: Target = field(init=False)
    _believes: bool | None = None
    _before: frozenset[str] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.layout = lay_out(self.folder, self.bench.repositories, self.bench.cache, self.bench.sandbox)
        self.target = aim(self.folder, self.layout.base)

    def plainly(self, patch: bytes, cancel: threading.Event | None = None) -> PlainVerdict:
        """What a plain harness says of a patch; ERROR where there was no sandbox for it."""
        try:
            return plainly(self.folder, self.layout, patch, self.bench.sandbox, self.seconds, cancel)
        except InfraFault:
            return PlainVerdict("ERROR")

    @property
    def before(self) -> frozenset[str]:
        """Tests that pass with nothing done."""
        with self._lock:
            if self._before is None:
                nothing = self.grade(created(self.target, {"repoassay-nothing.txt": "nothing\n"}))
                self._before = frozenset(test.id for test in nothing.tests if test.outcome == "passed")
        return self._before

    def grade(self, patch: bytes, cancel: threading.Event | None = None) -> Verdict:
        """What the submission environment says of a patch."""
        return self.engine.grade(self.name or self.folder.task.id, patch, cancel).verdict

    @property
    def believes(self) -> bool:
        """Whether the plain harness tells right from nothing on this task."""
        with self._lock:
            if self._believes is None:
                solution = self.folder.solution / "changes.diff"
                right = self.plainly(solution.read_bytes()).exit == "PASS" if solution.is_file() else False
                self._believes = right and not self.plainly(b"").fooled
        return self._believes


def run_trial(
    ground: AttackGround, attack: Attack, *, plain: bool = True, cancel: threading.Event | None = None
) -> Trial:
    """Try an attack on a task; a plain harness is asked too where it has something to say."""
    patch = attack.make(ground.target)
    plain_run = ground.plainly(patch, cancel) if plain and attack.plain and ground.believes else None
    verdict = ground.grade(patch, cancel)
    assurance = getattr(verdict, "assurance", None)
    tests = ground.folder.task.hidden_tests
    passed = [test.id for test in verdict.tests if test.outcome == "passed"]
    return Trial(
        task=ground.folder.task.id,
        task_digest=ground.folder.digest,
        attack=attack.name,
        digest=attack.digest(ground.target),
        family=attack.family,
        language=ground.target.language,
        origin=attack.origin,
        plain=plain_run.exit if plain_run else None,
        report=plain_run.report if plain_run else None,
        said=word(verdict),
        outcome=verdict.outcome,
        grade=getattr(assurance, "grade", None),
        bits=getattr(assurance, "bits", None),
        fooled=tuple(test for test in passed if test in tests.fail_to_pass and test not in ground.before),
        comment=(verdict.comments[0][:200] if verdict.comments else ""),
        seconds=verdict.seconds,
    )
