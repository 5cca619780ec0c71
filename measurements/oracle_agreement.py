"""Do withheld oracles give the verdicts of plain pytest? A repository's own test suite, run both ways, test by test.

    python measurements/oracle_agreement.py CHECKOUT --python ENV/bin/python [--tests tests] \
        [--package src/x --mutants N]

CHECKOUT is a folder with a repository and its tests; ENV is an environment in which `pytest` runs them. The suite is
run plainly, then rewritten; what the rewritten tests observe is judged outside. Sites that do not hold outside are then
decided inside, as in a task, and the suite is run again. With `--mutants`, modules of the package are changed at one
place at a time, and both ways must agree on every test of every mutant. Nothing is isolated here but the judge: run it
on repositories you trust.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repoassay.grading.oracle.compare import compare
from repoassay.grading.oracle.judge import OracleJudge
from repoassay.grading.oracle.language import Python
from repoassay.grading.oracle.quick_decision import DecisionQuestion, decide
from repoassay.grading.oracle.reference import Occurrence, Reference
from repoassay.grading.oracle.rewrite import rewrite
from repoassay.grading.oracle.sandbox_code import observer_source
from repoassay.grading.oracle.sites import Rewritten, SiteMode
from repoassay.sandbox.cache import Cache

PLUGIN = """
import builtins, json, os
space = {"__name__": "observer"}
exec(compile(open(os.environ["OBSERVER"]).read(), "observer", "exec"), space)
hook = vars(builtins)["ɵ"] = space["Hook"]()
hook._room = 1 << 40
told, phases = [], {}
def pytest_runtest_logstart(nodeid, location):
    hook.start()
def pytest_runtest_logreport(report):
    found = phases.setdefault(report.nodeid, set())
    found.add("skipped" if hasattr(report, "wasxfail") else report.outcome)
    if report.when == "teardown":
        word = next(word for word in ("failed", "skipped", "passed") if word in found)
        told.append([report.nodeid, word, hook.seen])
def pytest_sessionfinish(session):
    with open(os.environ["TOLD"], "w") as stream:
        json.dump(told, stream)
"""
SWAPS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.And: ast.Or, ast.Or: ast.And, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}  # fmt: skip
Results = dict[str, tuple[str, list[tuple[int, list[Any]]]]]
"""Outcome and observations by test, in order."""


@dataclass
class Suite:
    """A copy of a repository, whose tests are run plainly or rewritten."""

    tree: Path
    place: Path
    python: Path
    tests: list[str]
    options: list[str]
    files: dict[str, str] = field(default_factory=dict)
    said: str = ""

    def __post_init__(self) -> None:
        (self.place / "agreement_plugin.py").write_text(PLUGIN, encoding="utf-8")
        (self.place / "observer.py").write_text(observer_source(), encoding="utf-8")
        for root in (self.tree / test for test in self.tests):
            for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
                if path.name.startswith("test") or path.name.endswith("_test.py"):
                    self.files[str(path.relative_to(self.tree))] = path.read_text(encoding="utf-8")

    def run(self, sources: Mapping[str, str]) -> Results:
        """Run the tests with these texts in place."""
        for name, text in sources.items():
            (self.tree / name).write_text(text, encoding="utf-8")
        told = self.place / "told.json"
        told.unlink(missing_ok=True)
        env = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.place), "OBSERVER": str(self.place / "observer.py"),
            "PYTHONPATH": f"{self.place}:{self.tree / 'src'}:{self.tree}", "TOLD": str(told), "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        command = [str(self.python), "-m", "pytest", "-q", "-p", "agreement_plugin", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(
                [*command, *self.options, *self.tests], cwd=self.tree, env=env, capture_output=True, timeout=900,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {}
        self.said = done.stdout.decode(errors="replace")[-2000:]
        if not told.exists():
            return {}
        return {
            name: (word, [(number, nodes) for number, nodes in seen])
            for name, word, seen in json.loads(told.read_text())
        }


class Agreement:
    """The suite rewritten, with what is known of its tests."""

    def __init__(self, suite: Suite, judge: OracleJudge) -> None:
        self.suite, self.judge = suite, judge
        self.modes: dict[str, dict[int, SiteMode]] = {}
        self.files: dict[str, Rewritten] = {}
        self.plain = suite.run({})
        if not self.plain:
            sys.exit(f"The suite did not run: {suite.said}")

    def rewrite(self) -> Results:
        """Run the rewritten suite; results under the ids of the plain run, the n-th of a file being the n-th."""
        self.files = {name: rewrite(text, self.modes.get(name)) for name, text in self.suite.files.items()}
        return self.named(self.suite.run(self.sources))

    @property
    def sources(self) -> dict[str, str]:
        """The rewritten texts."""
        return {name: file.source for name, file in self.files.items()}

    def named(self, results: Results) -> Results:
        """Results under the ids of the plain run."""
        names = _places(self.plain)
        return {names[key]: results[test] for key, test in _places(results).items() if key in names}

    def judged(self, results: Results) -> dict[str, str]:
        """Outcomes as they are seen from outside without a reference: does every withheld assertion hold?"""
        self.broken: dict[str, set[int]] = {}
        outcomes = {test: word for test, (word, _) in results.items()}
        for name, file in self.files.items():
            sites = {site.number: site for site in file.sites}
            asked = [
                (test, DecisionQuestion(sites[number], nodes))
                for test, (word, seen) in results.items()
                if test.partition("::")[0] == name and word == "passed"
                for number, nodes in seen
                if sites[number].mode is SiteMode.WITHHELD
            ]
            answers = decide([question for _, question in asked], file.definitions, self.judge)
            for (test, question), answer in zip(asked, answers, strict=True):
                if answer != "holds":
                    self.broken.setdefault(name, set()).add(question.site.number)
                    outcomes[test] = f"failed at {question.site.number}, line {question.site.line}"
        return outcomes

    def demote(self, differ: Mapping[str, tuple[str, str]]) -> bool:
        """Decide inside what does not hold outside; whether there was any."""
        changed = False
        for test, (before, after) in differ.items():
            if before != "passed":
                continue
            name, _, inner = test.partition("::")
            numbers = self.broken.get(name, set()) if after.startswith("failed at") else None
            for site in self.files[name].sites:
                lower = {SiteMode.WITHHELD: SiteMode.OBSERVED, SiteMode.OBSERVED: SiteMode.LEFT}.get(site.mode)
                wanted = site.number in numbers if numbers is not None else site.test == inner.partition("[")[0]
                if wanted and lower is not None:
                    self.modes.setdefault(name, {})[site.number] = lower
                    changed = True
        return changed

    def differences(self, plain: Results, outcomes: Mapping[str, str]) -> dict[str, tuple[str, str]]:
        """Tests on which the two ways differ."""
        return {
            test: (word, outcomes.get(test, "missing"))
            for test, (word, _) in plain.items()
            if word != outcomes.get(test, "missing").split()[0]
        }


def _places(results: Results) -> dict[tuple[str, int], str]:
    counts: Counter[str] = Counter()
    found = {}
    for test in results:
        name = test.partition("::")[0]
        found[name, counts[name]] = test
        counts[name] += 1
    return found


def mutated(sources: Mapping[str, str], count: int, chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Changed sources, one operator, constant or returned value at a time: name, new text, what was changed."""
    places = [
        (name, number)
        for name, text in sources.items()
        for number, node in enumerate(ast.walk(ast.parse(text)))
        if _mutable(node)
    ]
    for name, number in chance.sample(places, min(count, len(places))):
        tree = ast.parse(sources[name])
        node = next(node for at, node in enumerate(ast.walk(tree)) if at == number)
        _mutate(node)
        yield name, ast.unparse(tree), f"{name}:{getattr(node, 'lineno', 0)} {type(node).__name__}"


def _mutable(node: ast.AST) -> bool:
    match node:
        case ast.Compare():
            return type(node.ops[0]) in SWAPS
        case ast.BinOp() | ast.BoolOp():
            return type(node.op) in SWAPS
        case ast.Constant(value=value):
            return isinstance(value, int | str) and value != ""
        case ast.Return(value=value):
            return value is not None
    return False


def _mutate(node: ast.AST) -> None:
    match node:
        case ast.Compare():
            node.ops[0] = SWAPS[type(node.ops[0])]()
        case ast.BinOp() | ast.BoolOp():
            node.op = SWAPS[type(node.op)]()
        case ast.Constant(value=bool() as value):
            node.value = not value
        case ast.Constant(value=int() as value):
            node.value = value + 1
        case ast.Constant(value=str() as value):
            node.value = f"{value}x"
        case ast.Return():
            node.value = ast.Constant(None)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--tests", action="append")
    parser.add_argument("--package", type=Path, help="folder of modules to change, below the checkout")
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--option", action="append", default=[], help="one more word for pytest")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agreement-") as place, OracleJudge(Cache()) as judge:
        tree = Path(place, "tree")
        shutil.copytree(given.checkout, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        suite = Suite(tree, Path(place), given.python.absolute(), given.tests or ["tests"], given.option)
        started = time.monotonic()
        agreement = Agreement(suite, judge)
        plainly = time.monotonic() - started
        results = _settle(agreement, given.checkout.name, plainly)
        if given.mutants:
            _try_mutants(agreement, results, suite.tree / given.package, given.mutants, random.Random(given.seed))


def _settle(agreement: Agreement, name: str, plainly: float) -> Results:
    for attempt in range(5):
        started = time.monotonic()
        results = agreement.rewrite()
        seconds = time.monotonic() - started
        if not attempt:
            counts = Counter(site.mode.value for file in agreement.files.values() for site in file.sites)
            shares = ", ".join(f"{mode} {count / counts.total():.1%}" for mode, count in counts.most_common())
            print(f"{name}: {len(agreement.files)} files, {len(agreement.plain)} tests, {counts.total()} assertions, "
                  f"{shares}; rewritten/plain {seconds / plainly:.2f}")  # fmt: skip
        differ = agreement.differences(agreement.plain, agreement.judged(results))
        print(f"  {'at once' if not attempt else f'after demotion {attempt}'}: {len(differ)} tests differ", flush=True)
        for test, (before, after) in list(differ.items())[:8]:
            print(f"    {test}: plain {before}, outside {after}")
        if not agreement.demote(differ):
            break
    return results


def _try_mutants(agreement: Agreement, results: Results, package: Path, count: int, chance: random.Random) -> None:
    expected = {
        test: tuple(Occurrence(site=number, nodes=nodes) for number, nodes in seen)
        for test, (word, seen) in results.items()
        if word == "passed"
    }
    reference = Reference(files=agreement.files, inner={}, expected=expected)
    texts = {str(path): path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    verdicts = failures = wrong = run = 0
    for name, text, what in mutated(texts, count, chance):
        path = Path(name)
        path.write_text(text, encoding="utf-8")
        before = agreement.suite.run(agreement.suite.files)
        after = agreement.named(agreement.suite.run(agreement.sources))
        path.write_text(texts[name], encoding="utf-8")
        if not before:
            continue
        run += 1
        outcomes = {test: word for test, (word, _) in after.items()}
        passed = {test: seen for test, (word, seen) in after.items() if word == "passed" and test in expected}
        for test, finding in compare(reference, passed, Python(agreement.judge)).items():
            outcomes[test] = "failed" if finding.wrong else "tampering" if finding.absent else "passed"
        known = {test: result for test, result in before.items() if test in agreement.plain}
        differ = agreement.differences(known, outcomes)
        verdicts += len(known)
        failures += sum(word == "failed" for word, _ in known.values())
        wrong += len(differ)
        for test, (one, other) in list(differ.items())[:5]:
            print(f"    {what}: {test}: plain {one}, outside {other}", flush=True)
    print(f"  {run} mutants: {verdicts} verdicts, {failures} failures, {wrong} differ")


if __name__ == "__main__":
    main()
