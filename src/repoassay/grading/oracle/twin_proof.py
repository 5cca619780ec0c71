"""Proves on the reference solution what makes each test fail, and that real tests pass beside altered ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.grading.hidden_tests.results import ChannelReport
from repoassay.grading.hidden_tests.run import hidden_files
from repoassay.grading.oracle.alteration import Alterable, alter, alterables
from repoassay.grading.oracle.twins import TwinSite, TwinUnit
from repoassay.tasks import TaskFolder

__all__ = ["candidates", "outcomes", "prove", "prove_apart", "side_by_side"]

Run = Callable[[Sequence[str], Mapping[str, bytes]], ChannelReport]
_VARIANTS, _TESTS = 24, 600
"""Variants of a test that are proven at most, and runs of tests altogether."""
_TELLING, _OTHER = 6, 3
_ONE_BY_ONE = 4
"""Variants where each takes a run of its own."""


@dataclass(frozen=True, slots=True)
class _Variant:
    place: Alterable
    option: int


def candidates(folder: TaskFolder, base: Path, tests: Sequence[str]) -> dict[str, list[Alterable]]:
    """What can be altered in each test function of the task, by `FILE::NAME`."""
    if folder.task.grading.tests is None or folder.task.grading.tests.runner != "pytest":
        return {}
    return _candidates(folder.tests, folder.digest, base, tuple(tests))


@lru_cache(maxsize=64)  # without a reference every verdict asks
def _candidates(place: Path, digest: str, base: Path, tests: tuple[str, ...]) -> dict[str, list[Alterable]]:
    del digest  # other contents, other candidates
    functions = dict.fromkeys(test.partition("[")[0] for test in tests)
    found: dict[str, list[Alterable]] = {}
    for file in dict.fromkeys(name.partition("::")[0] for name in functions):
        try:
            places = alterables((place / file).read_text(encoding="utf-8"), base)
        except (SyntaxError, ValueError, RecursionError):
            continue  # its tests are not doubted, which the verdict says
        named = {name: places.get(name.partition("::")[2]) for name in functions if name.startswith(f"{file}::")}
        found |= {name: each for name, each in named.items() if each}
    return found


def prove(folder: TaskFolder, base: Path, tests: Sequence[str], run: Run) -> dict[str, TwinUnit]:
    """The units of tests whose alterations fail on the solution, while real ones pass before, between and after.

    Args:
        folder: The task.
        base: Checkout of its base commit.
        tests: Ids of its tests.
        run: Runs tests of given files on the solution.

    Raises:
        InfraFault: When the sandbox fails.
    """
    found = candidates(folder, base, tests)
    most = max(3, min(_VARIANTS, _TESTS // max(1, len(found))))
    variants = {name: _variants(places, most) for name, places in found.items()}
    count = max(map(len, variants.values()), default=0)
    sources = {file: (folder.tests / file).read_text(encoding="utf-8") for file in {_file(name) for name in found}}
    copies: list[dict[str, str]] = []
    for number in range(count):
        chosen: dict[str, dict[Alterable, int]] = {file: {} for file in sources}
        for name, each in variants.items():
            if number < len(each):
                chosen[_file(name)][each[number].place] = each[number].option
        copies.append({file: alter(text, chosen[file]) for file, text in sources.items()})
    middle = count // 2
    copies = [sources, *copies[:middle], sources, *copies[middle:], sources]
    ids, files = side_by_side(folder, copies, [f"copy{number}" for number in range(len(copies))], found)
    try:
        report = run(ids, files) if found else ChannelReport([], complete=True)
    except InfraFault:
        return {}
    seen = [outcomes(report, f"copy{number}", found) for number in range(len(copies))]
    real = [seen.pop(place) for place in (len(seen) - 1, middle + 1, 0)]
    units = (_unit(name, tests, variants[name], [each[name] for each in real], [each[name] for each in seen])
             for name in found)  # fmt: skip
    return {unit.name: unit for unit in units if unit}


def prove_apart(
    sources: Mapping[str, str], find: Callable[[str], dict[str, list[Alterable]]], tests: Sequence[str],
    report: ChannelReport, run: Callable[[Mapping[str, str]], ChannelReport],
) -> dict[str, TwinUnit]:  # fmt: skip
    """The same where copies cannot lie beside each other: some alterations, each in the tests' own place.

    Args:
        sources: Texts of test files by name.
        find: What can be altered in each test function of a file; raises SyntaxError or ValueError for what is none.
        tests: Ids of the tests that decide.
        report: A run of them as they are, on the solution.
        run: Runs them on the solution with other texts.

    Raises:
        InfraFault: When the sandbox fails.
    """
    names = dict.fromkeys(test.partition("[")[0] for test in tests)
    found: dict[str, list[Alterable]] = {}
    for file in sources:
        try:
            places = find(file)
        except (SyntaxError, ValueError, RecursionError):
            continue
        named = {name: places.get(name.partition("::")[2]) for name in names if _file(name) == file}
        found |= {name: each for name, each in named.items() if each}
    variants = {name: _variants(places, _ONE_BY_ONE) for name, places in found.items()}
    seen = []
    for number in range(max(map(len, variants.values()), default=0)):
        chosen: dict[str, dict[Alterable, int]] = {_file(name): {} for name in found}
        for name, options in variants.items():
            if number < len(options):
                chosen[_file(name)][options[number].place] = options[number].option
        channel = run({file: alter(sources[file], wanted) for file, wanted in chosen.items()})
        seen.append(outcomes(channel, "", found))
    real = outcomes(report, "", found)
    units = (_unit(name, tests, variants[name], [real[name]], [each[name] for each in seen]) for name in found)
    return {unit.name: unit for unit in units if unit}


def _unit(
    name: str, tests: Sequence[str], variants: Sequence[_Variant], real: Sequence[Sequence[tuple[str, str]]],
    seen: Sequence[Sequence[tuple[str, str]]],
) -> TwinUnit | None:  # fmt: skip
    """What is proven of a test function; None where nothing is."""
    ids = tuple(test for test, _ in real[0])
    wanted = {test for test in tests if test.partition("[")[0] == name}
    for each in real:
        if tuple(test for test, _ in each) != ids or any(o != "passed" for test, o in each if test in wanted):
            return None
    failing: dict[Alterable, dict[int, set[str]]] = {}
    for variant, each in zip(variants, seen, strict=False):
        if len(each) == len(ids):  # the ids of rows tell their values, so that only their order counts
            bad = {test for test, (_, outcome) in zip(ids, each, strict=True) if outcome == "failed"}
            failing.setdefault(variant.place, {})[variant.option] = bad & wanted
    sites = []
    for place, options in failing.items():
        good = [option for option, bad in options.items() if bad]
        if good:
            kept = Alterable(place.test, place.spans, (place.options[0], *(place.options[each] for each in good)),
                             place.telling, place.statement, place.ending)  # fmt: skip
            always = set.intersection(*(options[each] for each in good))
            if always:
                sites.append(TwinSite(kept, tuple(test for test in ids if test in always)))
    return TwinUnit(name, ids, tuple(sites)) if sites else None


def _variants(places: Sequence[Alterable], most: int) -> list[_Variant]:
    """Alterations one at a time: first one of each place, then more of those that are spelt."""
    telling = [place for place in places if place.telling]
    others = [place for place in places if not place.telling]
    kept = _scattered(telling, _TELLING) + _scattered(others, _OTHER if telling else _TELLING)
    found = [_Variant(place, option) for option in range(1, 9) for place in kept if option < len(place.options)]
    return found[:most]


def _scattered(places: Sequence[Alterable], most: int) -> list[Alterable]:
    """Some of the places, as far apart as their order allows."""
    step = max(1.0, len(places) / most)
    return [places[int(number * step)] for number in range(min(most, len(places)))]


def side_by_side(
    folder: TaskFolder, copies: Sequence[Mapping[str, str]], names: Sequence[str], units: Mapping[str, object]
) -> tuple[list[str], dict[str, bytes]]:
    """What to ask for, and every file below tests/, so that copies lie in folders of these names."""
    hidden = hidden_files(folder)
    ids: list[str] = []
    files: dict[str, bytes] = {}
    for name, copy in zip(names, copies, strict=True):
        prefix = f"{name}/" if name else ""
        files |= {f"{prefix}{file}": content for file, content in hidden.items()}
        files |= {f"{prefix}{file}": text.encode() for file, text in copy.items()}
        ids += [f"{prefix}{unit}" for unit in units]
    return ids, files


def outcomes(report: ChannelReport, name: str, units: Mapping[str, object]) -> dict[str, list[tuple[str, str]]]:
    """What the tests of each unit came to in the copy of a name, as ids of the task and outcomes, in order."""
    prefix = f"{name}/" if name else ""
    found: dict[str, list[tuple[str, str]]] = {unit: [] for unit in units}
    for result in report.reported:  # altered rows have other ids, and would come after those that were asked for
        unit = result.id.removeprefix(prefix).partition("[")[0]
        if result.id.startswith(prefix) and unit in found and result.outcome != "missing":
            found[unit].append((result.id.removeprefix(prefix), result.outcome))
    return found


def _file(name: str) -> str:
    return name.partition("::")[0]
