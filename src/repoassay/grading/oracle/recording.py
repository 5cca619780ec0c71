"""What the reference solution yields at every assertion, recorded once and kept: what submissions are compared with.

Three runs of the solution (other hash seeds, another temporary folder, another moment) and one of the base. A site that
does not hold outside on the solution is decided inside; a value that changes between runs, or that the base yields too,
counts nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import InfraFault
from repoassay.grading.hidden_tests.results import ChannelReport, Seen
from repoassay.grading.hidden_tests.test_form import is_simple
from repoassay.grading.oracle.language import Language
from repoassay.grading.oracle.quick_decision import DecisionQuestion
from repoassay.grading.oracle.recording_runs import SEEDS, RecordingRuns
from repoassay.grading.oracle.reference import REFERENCE_VERSION, Occurrence, Reference
from repoassay.grading.oracle.sites import Rewritten, SiteMode
from repoassay.grading.oracle.twin_proof import prove, prove_apart
from repoassay.grading.oracle.twins import TwinUnit
from repoassay.sandbox import Cache, Sandbox
from repoassay.tasks import TaskFolder, read_regular
from repoassay.types import FileEdit

__all__ = ["reference_of"]

_MAX_KEPT = 64 * 2**20
_ROUNDS = 6
_INSIDE = "both sides of all that it compares stand inside, where code under test can copy the one to the other"


def reference_of(
    folder: TaskFolder,
    base: Path,
    environment: Path,
    sandbox: Sandbox,
    cache: Cache,
    language: Language,
    *,
    seconds: float | None = None,
) -> Reference:
    """The reference of a task in an environment, recorded when it is not in the cache.

    Of tests in place, whose task is proven before this, what cannot be recorded is open, and never a fault.

    Args:
        folder: The task.
        base: Checkout of its base commit.
        environment: Its environment.
        sandbox: Where its tests run.
        cache: Where references are kept.
        language: What its tests are written in.
        seconds: Time limit of a run in place; some tests take minutes with one hash seed and seconds with another.

    Raises:
        InfraFault: When the task has no solution, or its solution does not pass here: then nothing can be compared.
    """
    identity = "\0".join((REFERENCE_VERSION, folder.digest, environment.name, _programs()))
    key = hashlib.sha256(identity.encode()).hexdigest()[:32]

    def build(part: Path) -> None:
        recording = _Recording(RecordingRuns(folder, base, environment, sandbox, seconds=seconds), language)
        try:
            reference = recording.made()
        except InfraFault as fault:
            if not recording.in_place:
                raise
            reference = Reference(files={}, inner={}, expected={}, open=dict.fromkeys(recording.ids, str(fault)))
        (part / "reference.json").write_text(reference.model_dump_json(), encoding="utf-8")

    entry = cache.entry("references", key, build)
    try:
        return Reference.model_validate_json(read_regular(entry / "reference.json", _MAX_KEPT))
    except (OSError, ValidationError) as error:
        raise InfraFault(
            f"The recorded reference of {folder.task.id} cannot be read.", f"Remove {entry} to record it again."
        ) from error


def _programs() -> str:
    """Changes whenever what makes a reference does."""
    here = Path(__file__).parent
    parts = [
        path.read_bytes()
        for path in sorted(
            (*here.glob("*.*"), *here.parent.glob("hidden_tests/*.*"), *here.parent.glob("in_place/*.*"))
        )
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


class _Recording:
    """The reference of one task, in the making."""

    def __init__(self, runs: RecordingRuns, language: Language) -> None:
        self._runs, self.language = runs, language
        self.folder, self.base, self.ids, self.names = runs.folder, runs.base, runs.ids, runs.names
        self.in_place = runs.in_place

    def made(self) -> Reference:
        """Record everything.

        Raises:
            InfraFault: See `reference_of`.
        """
        solution = self._runs.solution()
        plain = self._runs.run(solution, {}, SEEDS[0])
        outcomes = {test.id: test.outcome for test in (*plain.tests, *plain.others)}
        missing = [test for test in self.ids if outcomes.get(test) != "passed"]
        if missing:
            raise InfraFault(
                f"The solution of {self.folder.task.id} does not pass {missing[0]} here, so nobody is judged by it."
            )
        if self._runs.inside:
            open_ = dict.fromkeys(self.ids, "assertions of the repository's own runner are decided inside")
            return Reference(files={}, inner={}, expected={}, open=open_, twins=self._twins_apart(solution, plain))
        modes = {name: self._first_modes(name) for name in self.names}
        for attempt in range(_ROUNDS):
            files = self._rewritten(modes)
            sources = {name: file.source for name, file in files.items()}
            runs = [self._runs.run(solution, sources, seed) for seed in SEEDS]
            inner = self._inner(plain, runs[0], files)
            broken = self._broken(files, inner, runs)
            if not broken:
                break
            self._demote(files, broken, modes, give_up=attempt > 2)
        else:
            raise InfraFault(f"The tests of {self.folder.task.id} do not settle, so no reference can be recorded.")
        spoiled = self._spoiled(solution, sources)
        files = {name: file for name, file in files.items() if name not in spoiled}
        inner = {test: name for test, name in inner.items() if test.partition("::")[0] not in spoiled}
        sources = {name: file.source for name, file in files.items()}
        before = self._runs.run({}, sources, SEEDS[0])
        reference = self._reference(files, inner, runs, before)
        if self.in_place:
            return reference.model_copy(update={"twins": self._twins_apart(solution, plain)})
        twins = prove(self.folder, self.base, self.ids, partial(self._runs.beside, solution))
        direct = self._same(solution, runs[0], reference) and self._same({}, before, reference)
        return reference.model_copy(update={"twins": twins, "direct": direct})

    def _same(self, edits: Mapping[str, FileEdit | None], report: ChannelReport, reference: Reference) -> bool:
        """Whether the tests come to what a pytest session told of them, and observe as much, when run directly."""
        files = reference.files.items()
        sources = [self._runs.source(name) for name in self.names] + [file.source for _, file in files]
        if not all(is_simple(source) for source in sources):
            return False
        inner = [reference.inner.get(test, test) for test in self.ids]
        here = self._runs.direct(edits, {name: file.source for name, file in files}, inner)
        return _sketch(here, inner) == _sketch(report, inner)

    def _spoiled(self, solution: Mapping[str, FileEdit | None], sources: Mapping[str, str]) -> set[str]:
        """Files whose other tests no longer pass in place once they are rewritten: some look at their own source."""
        tests = self.folder.task.hidden_tests
        guards = [test for test in tests.pass_to_pass if test.partition("::")[0] in sources]
        if not self.in_place or not guards:
            return set()
        report = self._runs.run(solution, sources, SEEDS[0], with_guards=True)
        passed = {test.id for test in (*report.tests, *report.others) if test.outcome == "passed"}
        return {test.partition("::")[0] for test in guards if test not in passed}

    def _twins_apart(self, solution: Mapping[str, FileEdit | None], plain: ChannelReport) -> dict[str, TwinUnit]:
        """What can be altered in the tests that decide, proven by running each alteration in their place."""
        sources = {}
        for name in self.names:
            with contextlib.suppress(OSError, ValueError):
                sources[name] = self._runs.source(name)
        tests = {self.language.function(test.partition("[")[0]) for test in self.ids}
        return prove_apart(
            sources, lambda name: self.language.alterables(name, self._runs.of_setup, self.base, tests), self.ids,
            plain, lambda copy: self._runs.run(solution, copy, SEEDS[0]),
        )  # fmt: skip

    def _first_modes(self, name: str) -> dict[int, SiteMode]:
        """Modes of a file's sites to begin with: in place, those of tests that do not decide stay as they were."""
        if not self.in_place:
            return {}
        try:
            file = self.language.rewrite(self._runs.source(name), {}, script=False)
        except (OSError, SyntaxError, ValueError, RecursionError):
            return {}
        decisive = {self.language.function(test) for test in self.ids if test.partition("::")[0] == name}
        return {site.number: SiteMode.LEFT for site in file.sites if site.test not in decisive}

    def _rewritten(self, modes: Mapping[str, Mapping[int, SiteMode]]) -> dict[str, Rewritten]:
        files = {}
        for name in self.names:
            try:
                files[name] = self.language.rewrite(
                    self._runs.source(name), modes[name], script=f"{name}::__script__" in self.ids
                )
            except (OSError, SyntaxError, ValueError, RecursionError):
                continue  # stays as it is, and is doubted
        return files

    def _inner(self, plain: ChannelReport, run: ChannelReport, files: Mapping[str, Rewritten]) -> dict[str, str]:
        """Ids of tests when their files are rewritten: the n-th of a file is the n-th."""
        inner: dict[str, str] = {}
        for name in self.names:
            before, after = (_of_file(report, name) for report in (plain, run))
            if name in files and len(before) == len(after):
                inner.update(zip(before, after, strict=True))
        return {test: inner[test] for test in self.ids if test in inner}

    def _broken(
        self, files: Mapping[str, Rewritten], inner: Mapping[str, str], runs: Sequence[ChannelReport]
    ) -> dict[str, set[int]]:
        """Sites of each file that do not hold outside on the solution, or whose test no longer passes."""
        found: dict[str, set[int]] = {}
        for name, file in files.items():
            sites = {site.number: site for site in file.sites}
            questions: list[DecisionQuestion] = []
            broken: set[int] = set()
            for report in runs:
                results = {test.id: test.outcome for test in (*report.tests, *report.others)}
                for test in (test for test in self.ids if test.partition("::")[0] == name):
                    if results.get(inner.get(test, "")) != "passed":
                        broken |= {
                            site.number for site in file.sites if site.test in (self.language.function(test), "")
                        }
                    questions += [
                        DecisionQuestion(sites[number], nodes)
                        for number, nodes in report.seen.get(inner.get(test, ""), ())
                        if number in sites and sites[number].mode is SiteMode.WITHHELD
                    ]
            answers = self.language.decide(questions, file.definitions)
            pairs = zip(questions, answers, strict=True)
            broken |= {question.site.number for question, answer in pairs if answer != "holds"}
            broken = {number for number in broken if sites[number].mode is not SiteMode.LEFT}
            if broken:
                found[name] = broken
        return found

    @staticmethod
    def _demote(
        files: Mapping[str, Rewritten], broken: Mapping[str, set[int]], modes: dict[str, dict[int, SiteMode]],
        *, give_up: bool,
    ) -> None:  # fmt: skip
        """Decide inside what does not hold outside; in the end, everything of such a file."""
        for name, numbers in broken.items():
            for site in files[name].sites:
                if give_up:
                    modes[name][site.number] = SiteMode.LEFT
                elif site.number in numbers:
                    modes[name][site.number] = SiteMode.OBSERVED if site.mode is SiteMode.WITHHELD else SiteMode.LEFT

    def _reference(
        self,
        files: Mapping[str, Rewritten],
        inner: Mapping[str, str],
        runs: Sequence[ChannelReport],
        before: ChannelReport,
    ) -> Reference:
        expected: dict[str, tuple[Occurrence, ...]] = {}
        open_: dict[str, str] = {}
        for test in self.ids:
            if test not in inner:
                open_[test] = "its file could not be rewritten"
                continue
            seen = [report.seen.get(inner[test], []) for report in runs]
            expected[test] = tuple(self._occurrences(seen, before.seen.get(inner[test], [])))
            why = self._open(test, files[test.partition("::")[0]], expected[test], seen)
            if why:
                open_[test] = why
        closed = {test: each for test, each in expected.items() if test not in open_}
        try:
            bits, total = self.language.bits(files, closed, self.folder.instruction, self.base)
        except (SyntaxError, ValueError, ArithmeticError, RecursionError):
            bits, total = {}, 0.0  # what cannot be weighed is worth nothing, and everything is doubted
        return Reference(files=dict(files), inner=dict(inner), expected=expected, bits=bits, total=total, open=open_)

    def _open(self, test: str, file: Rewritten, expected: Sequence[Occurrence], seen: Sequence[Sequence[Seen]]) -> str:
        """Why a pass of a test cannot be attested by what it observes; empty when it can."""
        sites = {site.number: site for site in file.sites}
        if any([number for number, _ in each] != [number for number, _ in seen[0]] for each in seen[1:]):
            return "its assertions do not come in the same order every time"
        if not expected:
            return "it has no assertion that sends a value"
        for site in file.sites:
            if site.test == self.language.function(test) and site.mode is SiteMode.LEFT:
                return f"what line {site.line} asserts is decided inside"
        for one in expected:
            if sites[one.site].mode is SiteMode.OBSERVED and (not one.stable or self.language.opaque(one.nodes)):
                return f"what line {sites[one.site].line} compares changes from run to run or cannot be seen"
        modes = {sites[one.site].mode for one in expected if one.telling}
        return _INSIDE if modes == {SiteMode.OBSERVED} else ""

    def _occurrences(self, seen: Sequence[Sequence[Seen]], before: Sequence[Seen]) -> list[Occurrence]:
        found = []
        for place, (number, nodes) in enumerate(seen[0]):
            others = [each[place][1] if place < len(each) else None for each in seen[1:]]
            stable = all(other is not None and self.language.alike(nodes, other) for other in others)
            telling = not any(number == at and self.language.alike(nodes, operands) for at, operands in before)
            found.append(Occurrence(site=number, nodes=nodes, stable=stable, telling=telling))
        return found


def _sketch(report: ChannelReport, ids: Sequence[str]) -> list[tuple[str, list[int]]]:
    """What became of each test, and the sites that it came by."""
    words = {test.id: test.outcome for test in (*report.tests, *report.others)}
    return [(words.get(test, "missing"), [number for number, _ in report.seen.get(test, ())]) for test in ids]


def _of_file(report: ChannelReport, name: str) -> list[str]:
    return [test.id for test in report.reported if test.id.partition("::")[0] == name and test.id != name]
