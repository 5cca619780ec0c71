"""Compares what a submission's tests observed with the reference, and says how well a pass is assured."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from repoassay.grading.hidden_tests.results import Seen
from repoassay.grading.oracle.language import Language
from repoassay.grading.oracle.quick_decision import DecisionQuestion
from repoassay.grading.oracle.reference import Occurrence, Reference
from repoassay.grading.oracle.sites import AssertionSite, SiteMode

__all__ = ["Mismatch", "compare"]

_MORE = 10_000
"""Observations of a test beyond twice the reference's that are still looked at; more would only take time."""


@dataclass(slots=True)
class Mismatch:
    """One test that was reported passed, as seen from outside.

    Attributes:
        wrong: Lines of assertions whose values are not right.
        absent: Lines of assertions that every passing run reaches, and this one did not.
        attested: Whether everything it observed is what it must be, so that the pass needs no further doubt.
        why: Why it is not attested.
    """

    wrong: list[int] = field(default_factory=list)
    absent: list[int] = field(default_factory=list)
    attested: bool = True
    why: str = ""

    def doubt(self, why: str) -> None:
        """Let the pass stand, not attested."""
        self.attested, self.why = False, self.why or why


@dataclass(frozen=True, slots=True)
class _Pending:
    test: str
    question: DecisionQuestion


def compare(reference: Reference, seen: Mapping[str, Sequence[Seen]], language: Language) -> dict[str, Mismatch]:
    """Judge every test of `seen` (observations by the test's real id) that the reference knows.

    Raises:
        InfraFault: When the judge cannot be started.
    """
    findings: dict[str, Mismatch] = {}
    pending: defaultdict[str, list[_Pending]] = defaultdict(list)
    for test, observed in seen.items():
        finding = findings[test] = Mismatch()
        if test in reference.open:
            finding.doubt(reference.open[test])
        if test not in reference.expected:
            finding.doubt("no reference")
        else:
            name = test.partition("::")[0]
            sites = {site.number: site for site in reference.files[name].sites}
            pending[name] += _against(test, finding, reference.expected[test], observed, sites, language)
    for name, waiting in pending.items():
        questions = [each.question for each in waiting]
        answers = language.decide(questions, reference.files[name].definitions)
        for each, answer in zip(waiting, answers, strict=True):
            if answer != "holds":
                findings[each.test].wrong.append(each.question.site.line)
    return findings


def _against(
    test: str,
    finding: Mismatch,
    expected: Sequence[Occurrence],
    observed: Sequence[Seen],
    sites: Mapping[int, AssertionSite],
    language: Language,
) -> list[_Pending]:
    """Compare one test's observations, site by site in the order in which each site was reached."""
    if _to_the_letter(expected, observed):
        return []
    most = 2 * len(expected) + _MORE
    if len(observed) > most:
        site = sites.get(observed[most][0])
        finding.wrong.append(site.line if site else 1)
        return []
    counts = {one.site: len(one.nodes) for one in expected}
    pending = []
    wanted: defaultdict[int, list[Occurrence]] = defaultdict(list)
    for occurrence in expected:
        wanted[occurrence.site].append(occurrence)
    for number, nodes in observed:
        site = sites.get(number)
        if site is None or site.mode is SiteMode.LEFT:
            finding.doubt("it observed what is not asked")
            continue
        one = wanted[number].pop(0) if wanted[number] else None
        if len(nodes) != counts.get(number, len(nodes)):  # the hook always sends as many as the site has
            finding.wrong.append(site.line)
            continue
        if one is None:
            finding.doubt(f"line {site.line} was reached more often than by the reference")
        if one is not None and language.alike(one.nodes, nodes):
            continue
        if site.mode is SiteMode.OBSERVED:
            if one is not None and one.stable:
                finding.doubt(f"line {site.line} compares other values than the reference's")
            continue
        pending.append(_Pending(test, DecisionQuestion(site, _operands(site, one, nodes, finding, language))))
    for number, left in wanted.items():
        if left and sites[number].always:
            finding.absent.append(sites[number].line)
        elif left:
            finding.doubt(f"line {sites[number].line} was not reached as often as by the reference")
    return pending


def _to_the_letter(expected: Sequence[Occurrence], observed: Sequence[Seen]) -> bool:
    try:
        return json.dumps([(one.site, one.nodes) for one in expected]) == json.dumps(observed)
    except RecursionError:  # as deep as could just be read
        return False


def _operands(
    site: AssertionSite, one: Occurrence | None, nodes: list[Any], finding: Mismatch, language: Language
) -> list[Any]:
    """What the check is asked about: rows of tables are the reference's, since a forger would choose an easy one."""
    if one is None:
        return nodes
    changed = [
        place
        for place in range(len(nodes))
        if not language.alike(one.nodes[place : place + 1], nodes[place : place + 1])
    ]
    if any(place in site.pinned for place in changed):
        finding.doubt(f"line {site.line} was reached with another row than the reference's")
    if len(nodes) - len(site.pinned) > 1 and len(changed) > 0:
        finding.doubt(f"line {site.line} compares values that depend on each other")
    return [one.nodes[place] if place in site.pinned else nodes[place] for place in range(len(nodes))]
