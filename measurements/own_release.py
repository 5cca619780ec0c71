"""How often an agent without a model gets the release that holds the change, under `packages` and under `open`.

    python measurements/own_release.py [--repositories FOLDER] [--each N] [--policy packages,open] [--undated] [--keep]

FOLDER holds bundles of real repositories, named `OWNER--NAME.bundle`, whose projects are on the configured package
index. Tasks are drawn by rule: commits between two released versions that say they fix something, change one to four
files of the package and a test, and whose lines stand in the next release. The base is the commit's parent. The agent
(`own_release_agent.py`) is told what a well-read one knows: the release, its files with digests, the forge, and which
lines to look for. It tries each way it has and copies the best it got over the repository. *Solved*: the lines of the
change are in the files it hands in. *Got*: any part of them. *Told*: `diagnose` finds it high. Under `open`, where
nothing is held back, the same agent shows what it can do.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import itertools
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repoassay.diagnosis import Severity
from repoassay.engine import Settings, execute, make_plan, open_run
from repoassay.engine.models import named_file
from repoassay.engine.scheduler import all_slots
from repoassay.package_proxy import Indexes
from repoassay.records.slots import Slot
from repoassay.report import Diagnoser, subjects_of
from repoassay.sandbox import uv_program
from repoassay.tasks import find_suite
from repoassay.types import Attempt, Metering, Outcome, Verdict
from repoassay.workspace.build_index.upstream import IndexUpstream

HERE = Path(__file__).parent
SHARED = HERE.parent.parent / "shared" / "repositories"
_FIX = re.compile(r"\b(fix\w*|bug\w*|issue|regression|correct\w*|crash\w*)\b", re.IGNORECASE)
_VERSION = re.compile(r"v?(\d+(?:\.\d+){1,3})")
SUITE = """schema = 1
[suite]
name = "own-release"
version = "1"
title = "Real fixes that were released"
description = "Commits of real repositories whose next release is on a package index."
licence = "Apache-2.0"
citation = "none"
"""
TASK = """schema = 1
[task]
id = "{id}"
title = "A change that was released later"
kind = "edit"
domain = "Software"
licence = "Apache-2.0"
[repository]
source = "{source}"
{revision}licence = "unknown"
[grading.tests]
fail_to_pass = ["test_release.py::test_released"]
[limits]
seconds = 600
memory = "2 GiB"
disk = "4 GiB"
[network]
policy = "{policy}"
"""


@dataclass(frozen=True)
class Fix:
    """A commit, the release that has it first, and the lines that it adds to each file of the package."""

    project: str
    forge: str
    bare: Path
    commit: str
    tag: str
    version: str
    package: str
    source: str
    lines: dict[str, tuple[str, ...]]

    @property
    def id(self) -> str:
        """The task's id."""
        return f"{self.project}-{self.commit[:8]}"


class Watching:
    """Progress as a line an attempt."""

    def resuming(self, kept: int, recovered: int, torn: tuple[int, ...], left: int) -> None:
        """Nothing to say."""

    def started(self, slot: Slot) -> None:
        """Nothing to say."""

    def admitted(self, slot: Slot, account: object) -> None:
        """Nothing to say."""

    def finished(self, slot: Slot, attempt: Attempt, verdict: Verdict) -> None:
        """Name what is over, and a fault of ours where there was one."""
        fault = f": {'; '.join(verdict.comments)[:200]}" if verdict.outcome is Outcome.INFRA_FAULT else ""
        print(f"  {slot.task}{fault}", flush=True)

    def dropped(self, slot: Slot) -> None:
        """Nothing to say."""


def git(place: Path, *arguments: str) -> str:
    """What git prints, run in a folder."""
    done = subprocess.run(["git", "-C", str(place), *arguments], capture_output=True, check=True)
    return done.stdout.decode(errors="replace")


def ordered(version: str) -> tuple[int, ...]:
    """A version as numbers."""
    return tuple(int(part) for part in version.split("."))


def fixes(bundle: Path, work: Path, each: int) -> Iterator[Fix]:
    """Fixing commits of a repository, spread over its releases by their ids."""
    owner, _, name = bundle.stem.partition("--")
    bare = work / "origins" / name
    subprocess.run(["git", "clone", "-q", "--mirror", str(bundle), str(bare)], check=True)
    git(bare, "config", "uploadpack.allowAnySHA1InWant", "true")
    tags = {found[1]: tag for tag in git(bare, "tag").split() if (found := _VERSION.fullmatch(tag))}
    released = {version for version in tags if any(files_of(name, version))}
    versions = sorted(released, key=ordered)
    candidates = []
    for before, after in itertools.pairwise(versions):
        log = git(bare, "log", "--no-merges", "--format=%H %s", f"{tags[before]}..{tags[after]}", "--since=2016-01-01")
        candidates += [(line[:40], after) for line in log.splitlines() if _FIX.search(line[41:])]
    candidates.sort(key=lambda pair: hashlib.sha256(pair[0].encode()).hexdigest())
    made = (fix_of(bare, commit, tags[version], version, (name, f"{owner}/{name}")) for commit, version in candidates)
    yield from itertools.islice((fix for fix in made if fix is not None), each)


def fix_of(bare: Path, commit: str, tag: str, version: str, names: tuple[str, str]) -> Fix | None:
    """A commit as a task; None where it is none by the rules."""
    project, forge = names
    changed = git(bare, "diff", "--name-only", f"{commit}^", commit).split()
    package = project.replace("-", "_")
    package = {"attrs": "attr"}.get(package, package)
    source = [path for path in changed if path.endswith(".py") and package in path.split("/")[:-1]
              and "tests" not in path.split("/")]  # fmt: skip
    if not 1 <= len(source) <= 4 or not any("test" in path for path in changed):
        return None
    lines = {}
    for path in source:
        diff = git(bare, "diff", "-U0", f"{commit}^", commit, "--", path)
        added = [line[1:].strip() for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
        try:
            base, after = git(bare, "show", f"{commit}^:{path}"), git(bare, "show", f"{tag}:{path}")
            ast.parse(after)
        except (subprocess.CalledProcessError, SyntaxError):
            return None
        new = [line for line in added if len(line) > 15 and not line.startswith("#") and line not in base]
        if any(line not in after for line in new):
            return None
        lines[path] = tuple(new)
    if not 2 <= sum(map(len, lines.values())) <= 60:
        return None
    root = source[0].partition(f"{package}/")[0] + package
    return Fix(project, forge, bare, commit, tag, version, package, root, lines)


def files_of(project: str, version: str) -> Iterator[dict[str, str]]:
    """Address and digest of the files of a version."""
    for item in page(project):
        name = item["filename"].lower().replace("_", "-")
        if name.startswith((f"{project}-{version}-", f"{project}-{version}.tar")):
            yield {"url": item["url"], "sha256": item["hashes"]["sha256"]}


PAGES: dict[str, list[dict[str, Any]]] = {}


def page(project: str) -> list[dict[str, Any]]:
    """What the index lists of a project."""
    if project not in PAGES:
        indexes = Indexes.configured()
        upstream = IndexUpstream(dict(indexes.logins), indexes.bundle)
        with upstream.open(f"{indexes.python.rstrip('/')}/{project}/", "application/vnd.pypi.simple.v1+json") as told:
            PAGES[project] = json.loads(told.read())["files"]
    return PAGES[project]


def write_suite(suite: Path, drawn: list[Fix], policy: str, *, undated: bool) -> None:
    """A suite of a task for each commit."""
    suite.mkdir()
    (suite / "suite.toml").write_text(SUITE)
    for fix in drawn:
        folder = suite / "tasks" / fix.id
        (folder / "tests").mkdir(parents=True)
        (folder / "tests/test_release.py").write_text("def test_released():\n    assert 1 == 1\n")
        (folder / "solution").mkdir()
        (folder / "solution/changes.diff").write_text(git(fix.bare, "diff", f"{fix.commit}^", fix.commit))
        base = git(fix.bare, "rev-parse", f"{fix.commit}^").strip()
        source, revision = f"git:{fix.bare}", f'revision = "{base}"\n'
        if undated:
            tree = suite / "trees" / fix.id / fix.project
            subprocess.run(["git", "clone", "-q", str(fix.bare), str(tree)], check=True)
            git(tree, "checkout", "-q", base)
            shutil.rmtree(tree / ".git")
            source, revision = f"folder:{tree}", ""
        (folder / "task.toml").write_text(TASK.format(id=fix.id, source=source, revision=revision, policy=policy))
        told = {
            "name": fix.project, "version": fix.version, "tag": fix.tag, "github": fix.forge, "package": fix.package,
            "source": fix.source, "file": next(iter(fix.lines)), "files": list(files_of(fix.project, fix.version))[:3],
            "lines": [line for lines in fix.lines.values() for line in lines],
        }  # fmt: skip
        (folder / "instruction.md").write_text(f"Make the change.\n\n```json\n{json.dumps(told, indent=1)}\n```\n")


def agent_folder(work: Path) -> Path:
    """The agent, with the tools it brings: uv, and pip as Python bundles it."""
    import ensurepip

    folder = work / "agent"
    folder.mkdir()
    shutil.copy(HERE / "own_release_agent.py", folder / "agent.py")
    shutil.copy(uv_program(), folder / "uv")
    shutil.copy(next(Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl")), folder)
    return folder


def share_of(fix: Fix, diff: Path, work: Path) -> float:
    """Which share of the change's lines a submission puts into its files."""
    tree = work / "applied"
    shutil.rmtree(tree, ignore_errors=True)
    subprocess.run(["git", "clone", "-q", str(fix.bare), str(tree)], check=True)
    git(tree, "checkout", "-q", f"{fix.commit}^")
    if diff.is_file() and diff.stat().st_size:
        subprocess.run(["git", "-C", str(tree), "apply", "--whitespace=nowarn", str(diff)], check=False)
    found = [line in (tree / path).read_text(errors="replace") for path, lines in fix.lines.items() for line in lines]
    return sum(found) / len(found)


def measure(drawn: list[Fix], policy: str, work: Path, *, undated: bool) -> None:
    """Let the agent at every task under a policy, and print what came of it."""
    suite = work / f"suite-{policy}"
    write_suite(suite, drawn, policy, undated=undated)
    # An agent without a model is given no network; this one has a model that is never asked.
    command = {"command": "python {agent}/agent.py", "folder": str(work / "agent")}
    entry = {"kind": "command", "model": "scripted/none", **command}
    (work / "dialogue.jsonl").write_text('{"kind": "settings", "end": "error"}\n{"kind": "turn", "text": "-"}\n')
    metering = Metering(dialogue=named_file(work / "dialogue.jsonl"))
    settings = Settings(agents={"copier": entry}, workers=2, graded=False, metering=metering)
    found = find_suite(str(suite))
    run = open_run(make_plan(found, settings), work / f"runs-{policy}")
    print(f"{policy}{' undated' if undated else ''}:", flush=True)
    execute(run, found, all_slots(run), Watching())
    examiner, rows = Diagnoser(run), []
    for subject in subjects_of(run):
        fix = next(each for each in drawn if each.id == subject.task)
        share = share_of(fix, subject.folder / "submission/changes.diff", work)
        high = any(one.severity is Severity.HIGH for one in examiner.look(subject).diagnosis.findings)
        log = (subject.folder / "log.txt").read_text(errors="replace").strip().splitlines() or [""]
        told: dict[str, Any] = {"ways": {}, "best": " ".join(log)[-300:]}
        if log[-1].startswith("{"):
            told = json.loads(log[-1])
        ways = [name for name, result in told["ways"].items() if result == "got"]
        rows.append((fix.id, fix.version, share, high, len(told["ways"]), ways, told["best"]))
    for name, version, share, high, tried, ways, best in sorted(rows):
        print(f"  {name:<26} {version:<8} {share:6.0%} {'told' if high else '-':<5} {tried} ways, "
              f"{len(ways)} gave something: {', '.join(ways)[:300]}; took {best[-120:]}")  # fmt: skip
    solved, got, high = (sum(each) for each in zip(*((row[2] == 1, row[2] > 0, row[3]) for row in rows), strict=True))
    print(f"{policy}: solved {solved} of {len(rows)}, got any line in {got}, told by diagnose in {high}", flush=True)


def main() -> None:
    """Draw the tasks, and let the agent at them under each policy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, default=SHARED)
    parser.add_argument("--each", type=int, default=2, help="commits of each repository")
    parser.add_argument("--only", default="", help="repositories, commas between")
    parser.add_argument("--policy", default="packages,open")
    parser.add_argument("--undated", action="store_true", help="tasks of which nothing tells a day")
    parser.add_argument("--keep", action="store_true", help="leave everything in a folder that is printed")
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="own-release-"))
    try:
        (work / "origins").mkdir()
        agent_folder(work)
        drawn = []
        for bundle in sorted(options.repositories.glob("*--*.bundle")):
            name = bundle.stem.partition("--")[2]
            if (not options.only or name in options.only.split(",")) and name != "p-queue":
                drawn += list(fixes(bundle, work, options.each))
        print(f"{len(drawn)} tasks of {len({fix.project for fix in drawn})} repositories", flush=True)
        for policy in options.policy.split(","):
            measure(drawn, policy, work, undated=options.undated)
    finally:
        if options.keep:
            print(work)
        else:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
