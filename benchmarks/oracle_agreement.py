"""Do withheld oracles give the verdicts of plain pytest? A repository's own test suite, run both ways, test by test.

    python benchmarks/oracle_agreement.py CHECKOUT --python ENV/bin/python [--tests tests] [--mutants N] [--seed S]

CHECKOUT is a folder with a repository and its tests; ENV is an environment in which `pytest` runs them. The suite is run
plainly, then rewritten; what the rewritten tests observe is judged outside. With `--mutants`, modules of the package
are changed one operator or constant at a time, and both ways must agree on every mutant too. Nothing is isolated here
but the judge: run it on repositories you trust.
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
from pathlib import Path

from repoassay.grading.oracle.compare import Finding, compare
from repoassay.grading.oracle.judge import Judge
from repoassay.grading.oracle.nodes import alike
from repoassay.grading.oracle.reference import Occurrence, Reference
from repoassay.grading.oracle.rewrite import rewrite
from repoassay.grading.oracle.shipped import observer_source
from repoassay.grading.oracle.sites import Mode, Rewritten
from repoassay.grading.oracle.weigh import Question, decide
from repoassay.workspace import Cache

PLUGIN = """
import builtins, json, os, pytest
space = {"__name__": "observer"}
exec(compile(open(os.environ["OBSERVER"]).read(), "observer", "exec"), space)
hook = builtins.ɵ = space["Hook"]()
hook._room = 1 << 40
told = []
def pytest_runtest_logstart(nodeid, location):
    hook.start()
phases = {}
def pytest_runtest_logreport(report):
    phases.setdefault(report.nodeid, []).append(report.outcome)
    if report.when == "teardown":
        word = "failed" if "failed" in phases[report.nodeid] else "skipped" if "skipped" in phases[report.nodeid] else "passed"
        told.append([report.nodeid, word, hook.seen])
def pytest_sessionfinish(session):
    with open(os.environ["TOLD"], "w") as stream:
        json.dump(told, stream)
"""


class Suite:
    """A repository's tests, to be run plainly or rewritten."""

    def __init__(self, checkout: Path, tests: list[str], python: Path, place: Path, options: list[str]) -> None:
        self.python, self.place, self.tests, self.options = python, place, tests, options
        self.tree = place / "tree"
        shutil.copytree(checkout, self.tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        (place / "agreement_plugin.py").write_text(PLUGIN)
        (place / "observer.py").write_text(observer_source())
        self.files = {
            str(path.relative_to(self.tree)): path.read_text(encoding="utf-8")
            for root in tests
            for path in sorted((self.tree / root).rglob("*.py") if (self.tree / root).is_dir() else [self.tree / root])
            if path.name.startswith("test_") or path.name.endswith("_test.py") or path.name == "tests.py"
        }

    def run(self, sources: Mapping[str, str], seed: str = "0") -> dict[str, tuple[str, list]]:
        """Results by id, in order: outcome and what was observed."""
        for name, text in sources.items():
            (self.tree / name).write_text(text, encoding="utf-8")
        for path in self.tree.rglob("__pycache__"):
            shutil.rmtree(path, ignore_errors=True)
        told = self.place / "told.json"
        told.unlink(missing_ok=True)
        env = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.place), "PYTHONPATH": f"{self.place}:{self.tree}/src:{self.tree}",
            "OBSERVER": str(self.place / "observer.py"), "TOLD": str(told), "PYTHONHASHSEED": seed,
            "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        try:
            done = subprocess.run(
                [self.python, "-m", "pytest", "-q", "-x" if False else "-q", "-p", "agreement_plugin", "-p", "no:cacheprovider",
                 "-p", "no:randomly", *self.options, *self.tests],
                cwd=self.tree, env=env, capture_output=True, timeout=600, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {}
        if not told.exists():
            return {}
        self.said = done.stdout.decode()[-3000:]
        found: dict[str, tuple[str, list]] = {}
        for name, word, seen in json.loads(told.read_text()):
            found[name] = (word, [(number, nodes) for number, nodes in seen])
        return found


def rewritten(files: Mapping[str, str], modes: Mapping[str, Mapping[int, Mode]]) -> dict[str, Rewritten]:
    """Every file that can be rewritten."""
    made = {}
    for name, text in files.items():
        try:
            made[name] = rewrite(text, modes.get(name))
        except SyntaxError as error:
            print(f"  {name}: cannot be rewritten: {error}")
    return made


def by_place(results: Mapping[str, tuple[str, list]]) -> dict[tuple[str, int], str]:
    """Ids by file and position, which rewriting keeps."""
    counts: Counter[str] = Counter()
    found = {}
    for test in results:
        name = test.partition("::")[0]
        found[name, counts[name]] = test
        counts[name] += 1
    return found


def judged(
    files: Mapping[str, Rewritten], reference: Reference | None, run: Mapping[str, tuple[str, list]], judge: Judge
) -> dict[str, str]:
    """Outcomes of a rewritten run as they are seen from outside."""
    outcomes = {test: word for test, (word, _) in run.items()}
    if reference is None:
        for name, file in files.items():
            sites = {site.number: site for site in file.sites}
            questions, owners = [], []
            for test, (word, seen) in run.items():
                if test.partition("::")[0] == name and word == "passed":
                    for number, nodes in seen:
                        if sites[number].mode is Mode.WITHHELD:
                            questions.append(Question(sites[number], nodes))
                            owners.append(test)
            for test, question, answer in zip(
                owners, questions, decide(questions, file.definitions, judge), strict=True
            ):
                if answer != "holds":
                    outcomes[test] = f"failed line {question.site.line} ({answer})"
        return outcomes
    passed = {test: seen for test, (word, seen) in run.items() if word == "passed"}
    findings: dict[str, Finding] = compare(reference, passed, judge)
    for test, finding in findings.items():
        if finding.wrong:
            outcomes[test] = f"failed line {finding.wrong[0]}"
        elif finding.absent:
            outcomes[test] = f"tampering line {finding.absent[0]}"
    return outcomes


def demote(files: Mapping[str, Rewritten], outcomes: Mapping[str, str], plain: Mapping[str, str],
           run: Mapping[str, tuple[str, list]], modes: dict[str, dict[int, Mode]]) -> int:  # fmt: skip
    """Decide inside what does not hold outside although plain pytest says so; how many sites."""
    changed = 0
    for test, word in outcomes.items():
        if plain[test] != "passed" or word == "passed":
            continue
        name = test.partition("::")[0]
        function = test.partition("::")[2].partition("[")[0]
        line = int(word.split()[2]) if word.startswith("failed line") else 0
        for site in files[name].sites:
            if (site.line == line) if line else site.test in (function, ""):
                lower = {Mode.WITHHELD: Mode.OBSERVED, Mode.OBSERVED: Mode.LEFT}.get(site.mode)
                if lower:
                    modes.setdefault(name, {})[site.number] = lower
                    changed += 1
    return changed


def mutants(sources: Mapping[Path, str], count: int, chance: random.Random) -> Iterator[tuple[Path, str, str]]:
    """Changed modules, one place at a time."""
    swaps = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.Gt: ast.LtE,
             ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
             ast.Mult: ast.Add}  # fmt: skip
    places = []
    for path, text in sources.items():
        for number, node in enumerate(ast.walk(ast.parse(text))):
            if (
                (isinstance(node, ast.Compare) and type(node.ops[0]) in swaps)
                or (isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in swaps)
                or (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, int | str)
                    and node.value not in ("", None)
                )
                or (isinstance(node, ast.Return) and node.value is not None)
            ):
                places.append((path, number))
    for path, number in chance.sample(places, min(count, len(places))):
        tree = ast.parse(sources[path])
        node = next(node for at, node in enumerate(ast.walk(tree)) if at == number)
        what = f"{path.name}:{getattr(node, 'lineno', 0)} {type(node).__name__}"
        if isinstance(node, ast.Compare):
            node.ops[0] = swaps[type(node.ops[0])]()
        elif isinstance(node, ast.BinOp | ast.BoolOp):
            node.op = swaps[type(node.op)]()
        elif isinstance(node, ast.Constant):
            node.value = (not node.value) if isinstance(node.value, bool) else (
                node.value + 1 if isinstance(node.value, int) else node.value + "x")  # fmt: skip
        else:
            node.value = ast.Constant(None)
        yield path, ast.unparse(tree), what


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--tests", action="append")
    parser.add_argument("--package", type=Path, help="folder of modules to mutate, below the checkout")
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--option", action="append", default=[], help="one more word for pytest")
    given = parser.parse_args()
    cache = Cache()
    with tempfile.TemporaryDirectory(prefix="agreement-") as place, Judge(cache) as judge:
        suite = Suite(given.checkout, given.tests or ["tests"], given.python.absolute(), Path(place), given.option)
        started = time.monotonic()
        first = suite.run({})
        plain_seconds = time.monotonic() - started
        if not first:
            sys.exit(f"The suite did not run: {getattr(suite, 'said', '')}")
        places = by_place(first)
        modes: dict[str, dict[int, Mode]] = {}
        for attempt in range(4):
            files = rewritten(suite.files, modes)
            started = time.monotonic()
            run = suite.run({name: file.source for name, file in files.items()})
            seconds = time.monotonic() - started
            inner = {places[key]: test for key, test in by_place(run).items() if key in places}
            outer = {test: name for name, test in inner.items()}
            named = {outer[test]: result for test, result in run.items() if test in outer}
            outcomes = judged(files, None, named, judge)
            plain = {test: word for test, (word, _) in first.items()}
            differ = {test: (plain[test], outcomes.get(test, "missing")) for test in plain
                      if plain[test] != outcomes.get(test, "missing").split()[0]}  # fmt: skip
            if attempt == 0:
                counts = Counter(site.mode.value for file in files.values() for site in file.sites)
                total = sum(counts.values())
                print(f"{given.checkout.name}: {len(files)} files, {len(plain)} tests, {total} assertions:",
                      ", ".join(f"{mode} {count / total:.1%}" for mode, count in counts.items()))  # fmt: skip
                print(f"  plain {plain_seconds:.1f} s, rewritten {seconds:.1f} s")
            print(f"  round {attempt}: {len(differ)} of {len(plain)} tests differ")
            for test, (before, after) in list(differ.items())[:12]:
                print(f"    {test}: plain {before}, outside {after}")
            if not differ or not demote(files, outcomes, plain, named, modes):
                break
        if not given.mutants:
            return
        occurrences = {
            test: tuple(Occurrence(site=number, nodes=nodes) for number, nodes in seen)
            for test, (word, seen) in named.items() if word == "passed"
        }  # fmt: skip
        again = suite.run({}, seed="7")
        unstable = {outer[test] for test, (_, seen) in again.items() if test in outer and test in run and (
            [n for n, _ in seen] != [n for n, _ in run[test][1]]
            or not all(alike(a[1], b[1]) for a, b in zip(seen, run[test][1], strict=True)))}  # fmt: skip
        print(f"  {len(unstable)} tests observe values that change between runs")
        reference = Reference(files=files, inner=inner, expected=occurrences)
        package = suite.tree / given.package
        texts = {
            path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py")) if "test" not in path.name
        }
        told = failures = wrong = 0
        for path, text, what in mutants(texts, given.mutants, random.Random(given.seed)):
            path.write_text(text, encoding="utf-8")
            before = {test: word for test, (word, _) in suite.run(suite.files).items()}
            after_run = suite.run({name: file.source for name, file in files.items()})
            after_named = {outer[test]: result for test, result in after_run.items() if test in outer}
            after = judged(files, reference, after_named, judge)
            path.write_text(texts[path], encoding="utf-8")
            if set(before) != set(after):
                print(f"  {what}: {len(before)} tests plainly, {len(after)} rewritten")
                if not before and not after:
                    continue
            for test in before.keys() & after.keys():
                told += 1
                failures += before[test] == "failed"
                if before[test] != after[test].split()[0]:
                    wrong += 1
                    print(f"  {what}: {test}: plain {before[test]}, outside {after[test]}")
        print(f"  mutants: {told} verdicts, {failures} failures, {wrong} differ")


if __name__ == "__main__":
    main()
