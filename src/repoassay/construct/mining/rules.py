"""Which commits may become tasks: rules as data, and the first that a commit does not keep to, with the value found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError

from repoassay.errors import BadInput
from repoassay.tasks import read_regular
from repoassay.text import printable, quote
from repoassay.types import Record

__all__ = ["CommitFacts", "MiningRules", "RuleFinding", "TouchedFile", "read_mining_rules"]

_MOST_BYTES = 2**18


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, Field(max_length=5000), AfterValidator(_compiles)]


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """A file that a commit changes; lines added and removed, None for a file that is no text."""

    path: str
    added: int | None
    removed: int | None


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """What the log says of a commit: its parents, day (UTC), message and files."""

    commit: str
    parents: tuple[str, ...]
    day: str
    message: str
    files: tuple[TouchedFile, ...]

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return self.message.splitlines()[0] if self.message else ""


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """The first rule that a commit does not keep to, and the value that was found."""

    rule: str
    value: str


class MiningRules(Record):
    """What a commit must be to be tried.

    Attributes:
        tests: Paths of tests and of what belongs to them (regular expression).
        test_sources: Those of them that hold tests.
        sources: Paths of source code; tests are none.
        compiled: Paths of sources that are compiled, of which a task can change none.
        most_files: Source files that it may change.
        most_lines: Lines of source that it may add and remove, together.
        fix: What its message must say somewhere.
        no_fix: What the first line of its message must not say.
        asserts: What a line that its tests gain must hold.
    """

    tests: Pattern = (
        r"(^|/)(tests?|testing|testsuite|__tests__)/|(^|/)(test_[^/]*|[^/]*_test|tests|conftest)\.py$"
        r"|(^|/)(spec|specs)/|[._-](test|spec)\.[cm]?[jt]sx?$|(^|/)tests?\.[cm]?[jt]sx?$"
    )
    test_sources: Pattern = r"\.(py|[cm]?[jt]sx?)$"
    sources: Pattern = r"\.(pyx?|c|[cm]?[jt]sx?)$"
    compiled: Pattern = r"\.(c|cc|cpp|cxx|h|hpp|pyx|pxd|pxi|rs|f|f90|go)$"
    most_files: Annotated[int, Field(ge=1)] = 6
    most_lines: Annotated[int, Field(ge=1)] = 250
    fix: Pattern = (
        r"(?i)\b(fix(es|ed)?|bug|resolve[sd]?|close[sd]?|crash|correct(ly|ed)?|incorrect|error|fail(s|ed|ure)?"
        r"|wrong|handle|regression|don't|should|prevent|#\d+)\b"
    )
    no_fix: Pattern = (
        r"(?i)^(merge|release|bump|version|v?\d+\.\d+|prepare|revert|back to|typo|docs?\b|doc:|lint|black|format"
        r"|pyupgrade|\[pre-commit|add type|type hints?|drop (support for )?python)|typos?\b|spelling|\brefactor"
        r"|\bCI\b|comments\b|^(\w+: )?(re-?)?(apply|run)\b"
        r".*\b(ruff|black|isort|autopep8|yapf|prettier|pre-?commit|lint(ers?|ing)|formatt(er|ing))\b"
    )
    asserts: Pattern = r"assert|raises|def test|parametrize|\bexpect\(|\bt\.\w+\(|\b(test|it)\("

    def is_test(self, path: str) -> bool:
        """Whether a file belongs to the tests."""
        return re.search(self.tests, path) is not None

    def source_files(self, facts: CommitFacts) -> list[TouchedFile]:
        """Source files that a commit changes."""
        return [each for each in facts.files if re.search(self.sources, each.path) and not self.is_test(each.path)]

    def test_files(self, facts: CommitFacts) -> list[TouchedFile]:
        """Files with tests that a commit changes."""
        return [each for each in facts.files if self.is_test(each.path) and re.search(self.test_sources, each.path)]

    def judge(self, facts: CommitFacts) -> RuleFinding | None:
        """The first rule that a commit does not keep to, as far as the log tells; None where it keeps to all."""
        sources = self.source_files(facts)
        lines = sum((each.added or 0) + (each.removed or 0) for each in sources)
        compiled = [each.path for each in facts.files if re.search(self.compiled, each.path)]
        for rule, kept, value in (
            ("one parent", len(facts.parents) == 1, len(facts.parents)),
            ("changes tests", self.test_files(facts), 0),
            ("changes sources", sources, 0),
            ("few files", len(sources) <= self.most_files, len(sources)),
            ("few lines", lines <= self.most_lines, lines),
            ("nothing compiled", not compiled, compiled[:1]),
            ("message speaks of a fault", re.search(self.fix, facts.message), facts.subject),
            ("message is no other chore", not re.search(self.no_fix, facts.subject or "merge"), facts.subject),
        ):
            if not kept:
                return RuleFinding(rule, printable(str(value), 100))
        return None


def read_mining_rules(file: Path | None) -> MiningRules:
    """The rules, with what a TOML file says of them instead.

    Raises:
        BadInput: When the file cannot be read or states what is no rule.
    """
    import tomllib

    if file is None:
        return MiningRules()
    try:
        return MiningRules.model_validate(tomllib.loads(read_regular(file, _MOST_BYTES).decode()))
    except OSError as error:
        raise BadInput(f"The rules {quote(file)} cannot be read: {error.strerror}.", "Correct --rules.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = printable(".".join(map(str, first["loc"])))
        raise BadInput(
            f"The rules {quote(file)} cannot be used: {where}: {printable(first['msg'])}.",
            f"Known are: {', '.join(MiningRules.model_fields)}.",
        ) from error
    except ValueError as error:
        raise BadInput(f"The rules {quote(file)} are no TOML: {printable(str(error))}.", "Correct it.") from error
