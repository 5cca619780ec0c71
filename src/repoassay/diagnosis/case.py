"""What must be known of an attempt beside its trajectory: what was expected, what was left, how it ended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from repoassay.types import Outcome, Task, TaskKind, Verdict

__all__ = ["AttemptCase", "PackageRequest"]


@dataclass(frozen=True, slots=True)
class PackageRequest:
    """One request to an attempt's proxy or package index, as journalled; `rule` is why it was refused, if it was."""

    project: str = ""
    file: str = ""
    host: str = ""
    allowed: bool = False
    rule: str = ""


@dataclass(frozen=True, slots=True)
class AttemptCase:
    """Facts about one attempt; every one may be unknown, and rules that need an unknown fact stay silent.

    Attributes:
        repository: The repository's name. `packages`: its top-level import packages.
        homepage: Where the project lives, to tell its pull requests from other pages.
        instruction: What was asked, when the trajectory does not have it.
        expected: Names of the deliverables asked for (patterns `a.png | *.png` as in `Outputs`).
        left: Names of the files found in the output folder; None when nobody looked.
        outcome: How it was judged; None when it was not.
        edit: Whether a change of the repository was asked for, not a deliverable.
        ground_truth: Names of files that hold answers or graders.
        ancestors: Commits (or their beginnings) the agent could see legitimately.
        version: The version of the repository the task starts from.
        patch: What the agent handed in as a diff. `reference`: the reference solution as a diff.
        inputs: Names of the inputs.
        tests_named: Test files which the instruction asks to change.
        requests: What was asked for over the network, where it was journalled.
    """

    repository: str = ""
    packages: tuple[str, ...] = ()
    homepage: str = ""
    instruction: str = ""
    expected: tuple[str, ...] = ()
    left: tuple[str, ...] | None = None
    outcome: Outcome | None = None
    edit: bool = False
    ground_truth: tuple[str, ...] = ()
    ancestors: tuple[str, ...] = ()
    version: str = ""
    patch: str = ""
    reference: str = ""
    inputs: tuple[str, ...] = ()
    tests_named: tuple[str, ...] = ()
    requests: tuple[PackageRequest, ...] = ()

    @classmethod
    def of(
        cls, task: Task, *, left: Iterable[str] | None = None, packages: Iterable[str] = (), instruction: str = ""
    ) -> AttemptCase:
        """The facts that a task tells; `left` are names of files found, `packages` what the repository imports as."""
        release = task.repository.source.partition("==")[2]
        return cls(
            repository=task.repository.name,
            packages=tuple(packages),
            homepage=task.repository.homepage,
            instruction=instruction,
            expected=task.outputs.files,
            left=None if left is None else tuple(left),
            edit=task.kind is not TaskKind.DELIVERABLE,
            version=release,
            inputs=task.inputs.files,
        )

    def judged(self, verdict: Verdict | None) -> AttemptCase:
        """With the outcome of a verdict, where there is one."""
        return self if verdict is None else replace(self, outcome=verdict.outcome)

    @property
    def own(self) -> frozenset[str]:
        """The names under which the repository's code is imported, lower case, hyphens as underscores."""
        names = {_plain(name.partition(".")[0]) for name in self.packages}
        if self.repository:
            names.add(_plain(self.repository))
        return frozenset(name for name in names if name)

    def owns(self, module: str) -> bool:
        """Whether a dotted module belongs to the repository."""
        name = _plain(module.partition(".")[0])
        return name in self.own or (bool(name) and _stem(name) in {_stem(own) for own in self.own})


def _stem(name: str) -> str:
    """A name without what often tells a distribution from its import name: `py` before or after, digits after."""
    bare = re.sub(r"^(?:python|py)_?|_?(?:python|py)?\d{0,3}$", "", name)
    return bare if len(bare) > 3 else name


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_")
