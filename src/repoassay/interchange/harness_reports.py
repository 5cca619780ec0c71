"""What SWE-bench's harness, and evaluations made like it, said of submissions: reports of instances, lists of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repoassay.interchange.agent_files import json_object, plain_files
from repoassay.interchange.foreign_run import ReportedResult
from repoassay.text import printable
from repoassay.types import TestResult

__all__ = ["HarnessReports"]

_LISTS = ("resolved_ids", "unresolved_ids", "error_ids", "empty_patch_ids")
_LEADERBOARD = {"resolved": "resolved_ids", "no_generation": "empty_patch_ids", "no_logs": "error_ids"}
"""Lists of the leaderboard's results.json, which is of the whole run: who stands in none did not resolve."""
_MOST_BYTES = 32 * 2**20


@dataclass(slots=True)
class HarnessReports:
    """What was said, by instance: in lists, of what the harness's machine spoiled, and in reports of single instances.

    Attributes:
        by: Who reports it.
        whole: Whether an instance of which nothing is said did not resolve.
    """

    by: str = "an evaluation harness"
    listed: dict[str, str] = field(default_factory=dict)
    doubted: dict[str, str] = field(default_factory=dict)
    single: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    whole: bool = False

    @classmethod
    def below(cls, folder: Path, reporter: str = "an evaluation harness") -> HarnessReports:
        """Those of all JSON files in and below a folder."""
        found = cls(reporter)
        for path in plain_files(folder, ".json"):
            if not path.name.endswith(".traj.json"):
                found.look(path)
        return found

    def look(self, path: Path) -> None:
        """Take a file in, if it is a report; another one is passed over."""
        if path.stat().st_size > _MOST_BYTES:
            return
        document = json_object(path)
        # Copies of the leaderboard's lack the instance's name around the report; their folder has it.
        named = {path.parent.name: document} if isinstance(document.get("resolved"), bool) else document
        for name, one in named.items() if path.name == "report.json" else ():
            if isinstance(one, dict) and "resolved" in one:
                self.single[name] = one
        board = path.name == "results.json" and isinstance(document.get("resolved"), list)
        self.whole = self.whole or (board and not _LEADERBOARD.keys().isdisjoint(document.keys() - {"resolved"}))
        lists = dict(zip(_LISTS, _LISTS, strict=True)) if "resolved_ids" in document else {}
        for key, kind in (_LEADERBOARD if self.whole and board else lists).items():
            names = document.get(key)
            for name in names if isinstance(names, list) else ():
                self.listed.setdefault(str(name), kind)
        failed, reasons = document.get("infra_failure_ids"), document.get("failure_reasons")
        for name in failed if isinstance(failed, list) else ():
            self.doubted[str(name)] = str(reasons.get(name, "")) if isinstance(reasons, dict) else ""

    def of(self, instance: str) -> ReportedResult | None:
        """What was said of an instance; its own report goes before a list, a fault before both.

        The harness counts what its own machine spoiled as unresolved; here nobody is blamed for that.
        """
        if instance in self.doubted:
            why = printable(self.doubted[instance], 200)
            return ReportedResult(None, self.by, comments=(f"The harness says that its machine failed: {why}.",))
        single = self.single.get(instance)
        if single is not None and isinstance(single.get("resolved"), bool):
            applied = single.get("patch_successfully_applied")
            comments = ("The patch did not apply.",) if applied is False else ()
            return ReportedResult(bool(single["resolved"]), self.by, tests=tuple(_tests(single)), comments=comments)
        kind = self.listed.get(instance)
        if kind in ("resolved_ids", "unresolved_ids"):
            return ReportedResult(kind == "resolved_ids", self.by)
        if kind is not None:
            return ReportedResult(None, self.by, comments=(f"Listed among {kind}.",))
        return ReportedResult(False, self.by) if self.whole else None


def _tests(single: Mapping[str, Any]) -> Iterator[TestResult]:
    status = single.get("tests_status")
    for group in status.values() if isinstance(status, dict) else ():
        for word, outcome in (("success", "passed"), ("failure", "failed")):
            names = group.get(word) if isinstance(group, dict) else None
            for name in names if isinstance(names, list) else ():
                yield TestResult.model_validate({"id": str(name)[:1000], "outcome": outcome})
