"""What decides a verdict: criteria over output files, or hidden tests, and how they are read."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from repoassay.types.base import Record
from repoassay.types.fields import InnerPath, Number, Seconds, inner_path

__all__ = ["Criterion", "Grading", "HiddenTests", "Mutants", "PublishedCriteria", "Reading"]

_JAVASCRIPT = frozenset({"node", "ava", "vitest", "jest", "jasmine", "mocha", "tap", "tape", "uvu"})
"""Readers of tests that Node runs."""


class Reading(StrEnum):
    """How criteria are read: as the task states them, computed correctly, or as its published scripts decide."""

    FAIR = "fair"
    PUBLISHED = "published"


class Criterion(Record):
    """One measurable condition.

    `of` names an output file as `outputs.files` has it, or is `.` for the folder of all of them. `against` is
    `input:NAME` or `truth:NAME` (a file below `tests/`; `input:.` and `truth:.` are the folders). Exactly one kind of
    threshold: `equals`, or one or both of a lower (`at_least`, `above`) and an upper (`at_most`, `below`) bound.
    `options` are passed to the metric as keyword arguments.
    """

    metric: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    of: Literal["."] | InnerPath
    against: Annotated[str, Field(pattern=r"^(input|truth):.+$")] | None = None
    at_least: Number | None = None
    above: Number | None = None
    at_most: Number | None = None
    below: Number | None = None
    equals: Number | None = None
    options: dict[str, str | int | float | bool | list[str] | list[float]] = Field(default_factory=dict)
    why: str = ""

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        lower = [bound for bound in (self.at_least, self.above) if bound is not None]
        upper = [bound for bound in (self.at_most, self.below) if bound is not None]
        if self.equals is not None and (lower or upper):
            raise ValueError("has equals beside another threshold; keep one")
        if self.equals is None and not lower and not upper:
            raise ValueError("has no threshold; add at_least, above, at_most, below or equals")
        if len(lower) > 1 or len(upper) > 1:
            raise ValueError("has two bounds on the same side; keep one")
        if lower and upper and lower[0] > upper[0]:
            raise ValueError(f"has a lower bound {lower[0]:g} above its upper bound {upper[0]:g}")
        if self.against is not None and (name := self.against.split(":", 1)[1]) != ".":
            inner_path(name)
        return self

    @property
    def threshold(self) -> str:
        """The threshold as text, such as `>= 0.7` or `>= 1 and <= 5`."""
        signs = {"equals": "=", "at_least": ">=", "above": ">", "at_most": "<=", "below": "<"}
        parts = [f"{sign} {getattr(self, name):g}" for name, sign in signs.items() if getattr(self, name) is not None]
        return " and ".join(parts)

    def holds(self, value: float) -> bool:
        """Whether a measured value meets the threshold; NaN never does."""
        return (
            (self.equals is None or value == self.equals)
            and (self.at_least is None or value >= self.at_least)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
            and (self.below is None or value < self.below)
            and value == value  # noqa: PLR0124 - false for NaN alone
        )


class HiddenTests(Record):
    """Hidden tests of an edit or pull-request task: files below `tests/`, and the ids that must pass.

    `fail_to_pass` fail on the base commit and pass on the solution; `pass_to_pass` pass on both. An id is
    `FILE::NAME` or `FILE::CLASS::NAME`, FILE relative to `tests/`; parameters in brackets belong to the id. The id
    `FILE::__script__` stands for running the file as a script, which passes when it ends without an error. With `cwd`
    "repository" the tests run in the repository's root, else in an empty folder.

    With `runner` "node" the files are tests for node's built-in test runner, laid over the repository at the same
    paths; an id is `FILE::NAME` or `FILE::SUITE::NAME`, and they always run in the repository's root. A script ends
    when nothing is left for its event loop.

    With `runner` "repository" the tests run as the repository's maintainers run them: in place, with its `conftest.py`,
    plug-ins, helper modules, configuration and data, all as they are on the base commit with the diff `patch` (a file
    of the task folder) and the files below `tests/` laid over it; what a submission changes of them is reported and
    not used. `reader` is the test program whose results are read, `arguments` are given to it, then `files`: what it
    is asked to run. `support` names further files of the set-up as shell patterns. An id is whatever name the program
    gives a test. `before` are shell commands run in the repository's root before each run of JavaScript tests, such as
    a compilation of what they import; the tests run whatever becomes of them. `package` is the folder of the
    repository in which JavaScript tests and these commands are started, where that is not its root.

    With `runner` "script", of state tasks alone, there is one id, `FILE::__script__`: what its first line names, else
    bash, runs the file, which writes a reward to `/logs/verifier/reward.txt` or `reward.json`, and the task is passed
    with 1 or more. `keys` are variables in which it looks for the key of a provider whose models it asks, such as
    `OPENAI_API_KEY = "openai"`; it is given a session of the model proxy there. Those of `optional_keys` may lack.
    """

    fail_to_pass: Annotated[tuple[str, ...], Field(min_length=1)]
    pass_to_pass: tuple[str, ...] = ()
    seconds: Seconds = 60.0
    cwd: Literal["scratch", "repository"] = "scratch"
    runner: Literal["pytest", "node", "repository", "script"] = "pytest"
    reader: Literal[
        "pytest",
        "unittest",
        "django",
        "sympy",
        "node",
        "ava",
        "vitest",
        "jest",
        "jasmine",
        "mocha",
        "tap",
        "tape",
        "uvu",
    ] = "pytest"
    patch: InnerPath | None = None
    files: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    support: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    package: InnerPath | None = None
    keys: Annotated[
        dict[
            Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]{0,99}$")],
            Literal["openai", "anthropic", "gemini", "openrouter", "deepseek", "mistral"],
        ],
        Field(max_length=20),
    ] = Field(default_factory=dict)
    optional_keys: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _in_place(self) -> Self:
        used = self.patch or self.files or self.arguments or self.support or self.reader != "pytest"
        if self.runner != "repository" and used:
            raise ValueError('has patch, files, arguments, support or reader, which only runner = "repository" uses')
        if self.runner == "script" and not (len(self.all_ids) == 1 and self.all_ids[0].endswith("::__script__")):
            raise ValueError('has a runner = "script" with other tests than one FILE::__script__; name that alone')
        if (self.keys and self.runner != "script") or not set(self.optional_keys) <= set(self.keys):
            raise ValueError('has keys, which only runner = "script" uses, or optional_keys beside them; remove them')
        if (self.before or self.package) and not self.in_javascript:
            word = "before" if self.before else "package"
            raise ValueError(f"has {word}, which only tests of {', '.join(sorted(_JAVASCRIPT))} use; remove it")
        return self

    @property
    def in_javascript(self) -> bool:
        """Whether these are tests in place that Node runs."""
        return self.runner == "repository" and self.reader in _JAVASCRIPT

    @property
    def all_ids(self) -> tuple[str, ...]:
        """Every id that must pass."""
        return (*self.fail_to_pass, *self.pass_to_pass)


class PublishedCriteria(Record):
    """The same task as a published benchmark's own scripts decide it, kept so that old numbers can be compared.

    `differs` says where our own criteria decide otherwise, and why; empty where they agree.
    """

    process: tuple[Criterion, ...] = ()
    result: tuple[Criterion, ...] = ()
    differs: str = ""


class Grading(Record):
    """What decides the verdict: criteria for deliverables, hidden tests for edits.

    `reward` says what the rewards of a state task's steps make together: their mean, or that of the final one. A task
    taken from a published benchmark has a second reading, `published`.
    """

    process: tuple[Criterion, ...] = ()
    result: tuple[Criterion, ...] = ()
    tests: HiddenTests | None = None
    reward: Literal["mean", "final"] = "mean"
    published: PublishedCriteria | None = None

    def criteria(self, reading: Reading) -> tuple[tuple[str, Criterion], ...]:
        """Stage and criterion of everything a reading measures; a task with one reading has it for both."""
        chosen = self.published if reading is Reading.PUBLISHED and self.published else self
        return (*(("process", item) for item in chosen.process), *(("result", item) for item in chosen.result))


_Stated = dict[Annotated[str, Field(min_length=1, max_length=200)], Annotated[str, Field(min_length=3, max_length=400)]]


class Mutants(Record):
    """Exceptions from what is expected of mutants, by name (`NAME` or `FILE:NAME`, with `*`), each with its reason.

    `tolerate` names mutants that may be accepted or refused, `accept` variants that must be accepted, `refuse` mutants
    that must be refused. `tolerance` is the share of wrong outputs that may be accepted; a task where more are is weak.
    """

    tolerance: Annotated[float, Field(ge=0, le=1)] = 0.0
    tolerate: Annotated[_Stated, Field(max_length=100)] = Field(default_factory=dict)
    accept: Annotated[_Stated, Field(max_length=100)] = Field(default_factory=dict)
    refuse: Annotated[_Stated, Field(max_length=100)] = Field(default_factory=dict)
