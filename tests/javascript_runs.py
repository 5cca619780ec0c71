"""Runs of rewritten JavaScript tests in a real sandbox, and what a host can make of what they send."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repoassay.grading.hidden_tests.node import node_command
from repoassay.grading.hidden_tests.results import read_channel
from repoassay.grading.oracle.javascript import rewrite
from repoassay.grading.oracle.javascript_values import same_javascript_value
from repoassay.grading.oracle.language import decide_javascript
from repoassay.grading.oracle.sites import AssertionSite, Rewritten, SiteMode
from repoassay.sandbox.protocol import Sandbox
from repoassay.types import Exit, Limits
from repoassay.types.files import FileEdit

Seen = list[tuple[int, list[object]]]


@dataclass(frozen=True, slots=True)
class Observed:
    """What one run told: outcomes and observations of its tests, signs of tampering, and how it ended."""

    outcomes: dict[str, str]
    seen: dict[str, Seen]
    signs: list[str]
    complete: bool
    exit: Exit
    said: str
    messages: dict[str, str]

    @property
    def passed(self) -> bool:
        """Whether the process says that all is well."""
        return self.complete and not self.signs and set(self.outcomes.values()) == {"passed"}


@dataclass(frozen=True)
class Task:
    """Hidden tests for a repository, their sources by path, run in a sandbox."""

    base: Path
    tests: Mapping[str, str]
    ids: Sequence[str]
    sandbox: Sandbox

    def rewritten(self, left: Mapping[str, Sequence[int]] | None = None) -> dict[str, Rewritten]:
        return {
            name: rewrite(source, (left or {}).get(name, ()), script=f"{name}::__script__" in self.ids)
            for name, source in self.tests.items()
        }

    def run(self, files: Mapping[str, str | None], *, plain: bool = False, seconds: float = 20.0) -> Observed:
        """Run the tests, rewritten or as they are, with some files of the repository changed."""
        sources = dict(self.tests) if plain else {name: each.source for name, each in self.rewritten().items()}
        key = secrets.token_bytes(32)
        edits = {name: None if text is None else FileEdit(text.encode()) for name, text in files.items()}
        hidden = {name: source.encode() for name, source in sources.items()}
        command = node_command(self.base, edits, hidden, self.ids, key)
        done = self.sandbox.run(replace(command, limits=Limits(seconds=seconds)))
        told = read_channel(done.channel, key, self.ids)
        seen: dict[str, Seen] = {}
        for line in done.channel.splitlines() if not told.signs else ():
            body = json.loads(line.partition(b" ")[2])
            if "id" in body:
                seen[body["id"]] = [(site, operands) for site, operands in body["seen"]]
        return Observed(
            {test.id: test.outcome for test in told.tests}, seen, told.signs, told.complete, done.exit,
            done.stderr.decode(errors="replace"), {test.id: test.message for test in told.tests},
        )  # fmt: skip

    def attested(self, run: Observed, reference: Observed) -> dict[str, str]:
        """Why the values of each test do not hold; empty for those whose do."""
        files = self.rewritten()
        found = {test: "" if outcome == "passed" else f"it {outcome}" for test, outcome in run.outcomes.items()}
        for test in self.ids:
            sites = {site.number: site for site in files[test.partition("::")[0]].sites}
            told, right = run.seen.get(test, []), reference.seen[test]
            if found[test]:
                continue
            if _rows(told, sites) != _rows(right, sites):
                found[test] = "other assertions were reached than by the reference"
                continue
            for (number, operands), (_, known) in zip(told, right, strict=True):
                observed = sites[number].mode is SiteMode.OBSERVED
                if observed and not (len(operands) == len(known) and all(map(same_javascript_value, operands, known))):
                    found[test] = f"site {number} tells something else"
        judged = self.judged(run)
        return {test: why or judged[test] for test, why in found.items()}

    def judged(self, run: Observed) -> dict[str, str]:
        """Why a test of a run does not pass, asking every withheld check; empty for those that do."""
        found = {test: "" if outcome == "passed" else f"it {outcome}" for test, outcome in run.outcomes.items()}
        for name, file in self.rewritten().items():
            checks = {site.number: site.check for site in file.sites if site.mode is SiteMode.WITHHELD}
            asked = [(test, site, operands) for test, seen in run.seen.items() if test.startswith(f"{name}::")
                     for site, operands in seen if site in checks]  # fmt: skip
            answers = decide_javascript(
                file.definitions, [(checks[site], operands) for _, site, operands in asked], self.sandbox
            )
            for (test, site, operands), answer in zip(asked, answers, strict=True):
                if answer != "holds":
                    found[test] = found[test] or f"site {site} {answer} on {operands}"
        return found


def _rows(seen: Seen, sites: Mapping[int, AssertionSite]) -> list[str]:
    """Which sites were reached with which rows, in the order of their numbers."""
    return sorted(f"{number} {[operands[at] for at in sites[number].pinned]}" if number in sites else "?"
                  for number, operands in seen)  # fmt: skip
