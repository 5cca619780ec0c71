"""One commit on its way to a task: what an agent is told, what is checked of that, and what is written beside."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from repoassay.construct.commit import Constructed
from repoassay.construct.history import History
from repoassay.construct.mining.instruction import (
    InstructionSource,
    instruction_sources,
    pick_instruction,
    source_lines,
)
from repoassay.construct.mining.journal import CommitStatus, Difficulty, MinedCommit
from repoassay.construct.mining.rewriting import InstructionRewriter, RewordedInstruction
from repoassay.construct.mining.rules import CommitFacts, MiningRules
from repoassay.construct.mining.told_names import NeededFact, needed_facts, untold
from repoassay.construct.mining.told_names_javascript import needed_javascript_facts
from repoassay.construct.node.tests import JAVASCRIPT_SUFFIXES
from repoassay.construct.prove import ProofFinding, ProofRole, ProvenTask
from repoassay.construct.submodules import Submodule, needed_submodule, submodules_of
from repoassay.construct.task_draft import TEST_PATCH, TaskDraft
from repoassay.diffs import read
from repoassay.errors import BadInput
from repoassay.text import join_names, printable
from repoassay.types import Dates
from repoassay.workspace import PreparedTask

__all__ = ["NEEDS_SUBMODULE", "CandidateRefused", "MinedCandidate"]

NEEDS_SUBMODULE = "needs a submodule"
"""The word for a commit whose tests lack files of a submodule."""
_FEW_WORDS = 12
_LACKS = (ProofFinding.BROKEN, ProofFinding.LOSSY, ProofFinding.UNBUILDABLE)
"""What becomes of a change whose tests lack files."""


class CandidateRefused(BadInput):
    """A commit that is to be no task; `cause` is the word under which it is counted."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message, "")
        self.cause = cause


@dataclass(slots=True)
class MinedCandidate:
    """One commit while it is tried.

    Args:
        history: Its repository.
        name: What the repository is called.
        facts: The commit.
        rules: What tells sources from tests.
        issues: Texts by number.
        rewrite: Asks a model to say an instruction in other words.
        mirrors: Where repositories of submodules lie, by URL.
        claim: Called with the tests that must pass; raises CandidateRefused where another task has them.
    """

    history: History
    name: str
    facts: CommitFacts
    rules: MiningRules
    issues: Mapping[int, str]
    claim: Callable[[CommitFacts, tuple[str, ...]], None]
    rewrite: InstructionRewriter | None = None
    mirrors: Mapping[str, str] = field(default_factory=dict)
    rewriting: RewordedInstruction | None = None
    source: InstructionSource | None = None
    told: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    must_pass: tuple[str, ...] = ()
    difficulty: Difficulty | None = None
    release: str = ""
    _lines: list[str] = field(default_factory=list)

    def instruction(self) -> str:
        """The text that an agent is given, before what the tests need besides is known.

        Raises:
            CandidateRefused: When no text says what was wanted, or each holds a line of the solution.
        """
        paths = [each.path for each in self.rules.source_files(self.facts)]
        diff = self.history.diff(self.facts.parents[0], self.facts.commit, paths)
        self._lines = source_lines(diff, lambda path: True)
        self.source, passed = pick_instruction(instruction_sources(self.history, self.facts, self.issues), self._lines)
        self.passed = tuple(passed)
        if self.source is None and passed:
            raise CandidateRefused("instruction leaks", passed[0])
        if self.source is None:
            reason = f"Its message is {self.facts.subject!r}; --issues gives what its issue or pull request says."
            raise CandidateRefused("instruction says too little", reason)
        return self.source.text

    def complete(self, draft: TaskDraft, proven: ProvenTask, layout: PreparedTask) -> TaskDraft:
        """The draft with all that its tests need told, and its days written down.

        Raises:
            CandidateRefused: When another task has the same tests.
        """
        self.must_pass = tuple(case.id for case in proven.of(ProofRole.MUST_PASS))
        self.claim(self.facts, self.must_pass)
        text = draft.files["instruction.md"].decode()
        needed = self._needed(draft)
        missing = untold(needed, text)
        self.told = tuple(dict.fromkeys(printable(fact.sentence, 400) for fact in missing))
        private = [fact.word for fact in missing if fact.private]
        if private:
            self.notes += (f"The tests use names that are not public: {join_names(private, 5)}.",)
        if len(text.split()) < _FEW_WORDS:
            self.notes += (f"The instruction has {len(text.split())} words; read whether they say enough.",)
        if self.told:
            text = f"{text.rstrip()}\n\n" + "".join(f"- {sentence}\n" for sentence in self.told)
        text = self._reworded(text, needed)
        hunks = draft.diff.count(b"\n@@ ")
        sources = self.rules.source_files(self.facts)
        lines = sum((each.added or 0) + (each.removed or 0) for each in sources)
        self.difficulty = Difficulty(files=len(sources), lines=lines, hunks=hunks, tests=len(self.must_pass))
        first = self.history.first_release(self.facts.commit)
        self.release = first[0] if first else ""
        task = draft.task.model_copy(
            update={
                "dates": Dates(
                    commit=self.facts.day, released=first[1].isoformat() if first else None,
                    drafted=datetime.datetime.now(datetime.UTC).date().isoformat(),
                ),
                "provenance": (
                    f"change {self.facts.commit} on {draft.base} of {self.facts.day}, taken by repoassay mine;"
                    f" instruction from the {self._told_from()};"
                    f" {self.difficulty}"
                ),
            }
        )  # fmt: skip
        return replace(draft.with_file("instruction.md", text.encode()), task=task)

    def _reworded(self, draft: str, needed: list[NeededFact]) -> str:
        """The instruction in a model's words where one is asked and its words can be taken, else the draft."""
        if self.rewrite is None:
            return draft
        self.rewriting = self.rewrite(draft, self._lines, needed)
        if self.rewriting.taken:
            return f"{self.rewriting.text}\n"
        self.notes += (f"The words of {self.rewriting.model} were not taken: {self.rewriting.why}",)
        return draft

    def _told_from(self) -> str:
        """What the instruction is taken from, and who reworded it."""
        name = self.source.name if self.source else ""
        taken = self.rewriting is not None and self.rewriting.taken
        return f"{name}, reworded by {self.rewriting.model}" if taken and self.rewriting else name

    def _needed(self, draft: TaskDraft) -> list[NeededFact]:
        patched = (each.new for each in read(draft.files.get(TEST_PATCH, b"")) if each.new)
        hidden = tuple(dict.fromkeys((*draft.tests, *patched)))  # programs that tests start need the same names
        sources = [each.path for each in self.rules.source_files(self.facts)]
        after = self._texts(draft.solution, (*sources, *hidden))
        base = self._texts(draft.base, (*sources, *hidden))
        tests = {path: (base.get(path, ""), after[path]) for path in hidden if path in after}
        changed = {path: text for path, text in after.items() if path not in tests}
        before = {path: text for path, text in base.items() if path not in hidden}
        return [*needed_facts(before, changed, tests, self.must_pass), *needed_javascript_facts(before, changed, tests)]

    def _texts(self, commit: str, paths: tuple[str, ...]) -> dict[str, str]:
        """Python and JavaScript files of a commit by path, as far as it has them."""
        tree = self.history.tree(commit)
        files = ((path, tree[path]) for path in paths if path.endswith((".py", *JAVASCRIPT_SUFFIXES)) and path in tree)
        return {path: self.history.content(entry).decode(errors="replace") for path, entry in files if entry.regular}

    def row(self, constructed: Constructed | None, seconds: float) -> MinedCommit:
        """What became of it."""
        facts = self.facts
        common = MinedCommit(
            repository=self.name, commit=facts.commit, day=facts.day, subject=printable(facts.subject, 200),
            status=CommitStatus.REFUSED, source=self._told_from(), told=self.told, rewriting=self.rewriting,
            passed=tuple(printable(each, 200) for each in self.passed), notes=self.notes, difficulty=self.difficulty,
            must_pass=self.must_pass, released=self.release, seconds=round(seconds, 1),
        )  # fmt: skip
        if constructed is None:
            return common
        flaky = tuple(case.id for case in constructed.proven.of(ProofRole.FLAKY))
        if constructed.finding is ProofFinding.SOUND:
            return common.model_copy(update={
                "status": CommitStatus.TASK, "task": constructed.id, "flaky": flaky,
                "notes": (*self.notes, *constructed.warnings),
            })  # fmt: skip
        cause, reason = constructed.finding.value, " ".join(constructed.reasons)
        if constructed.finding in _LACKS and (lacking := self._lacking()) is not None:
            cause = NEEDS_SUBMODULE
            reason = (
                f"Its tests speak of {lacking.path}, whose files are not here: give its repository with --mirror"
                f" {lacking.url or 'URL'}=PATH. {reason}"
            )
        return common.model_copy(update={"cause": cause, "reason": printable(reason, 600), "flaky": flaky})

    def _lacking(self) -> Submodule | None:
        """A submodule without its files that the change's tests, or their set-up, speak of."""
        linked = [each for each in submodules_of(self.history, self.facts.commit) if each.place(self.mirrors) is None]
        if not linked:
            return None
        tree = self.history.tree(self.facts.commit)
        tests = {each.path for each in self.rules.test_files(self.facts)}
        paths = [path for path in tree if path in tests or path.rpartition("/")[2] == "conftest.py"]
        return needed_submodule(
            linked, [self.history.content(tree[path]).decode(errors="replace") for path in paths if tree[path].regular]
        )  # fmt: skip
