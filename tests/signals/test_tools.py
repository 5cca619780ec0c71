"""Where tools come from: the task's environment first, then our own; node's only from the project."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.signals import Signal, SignalState, ToolRunner, signals
from repoassay.signals.tools import CannotRun, binary, module
from signals import projects


def test_the_environment_goes_before_our_own(tmp_path: Path) -> None:
    assert "RepoAssay's own" in binary("ruff", tmp_path).note
    assert "RepoAssay's own" in module("mypy", tmp_path).note
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ruff").write_text("")
    package = tmp_path / "lib/python3.11/site-packages/mypy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    assert binary("ruff", tmp_path).argv == ("/env/bin/ruff",)
    assert module("mypy", tmp_path).argv[0] == "/env/bin/python"
    assert "task environment's" in module("mypy", tmp_path).note


def test_ours_shows_the_tool_and_what_it_needs_alone() -> None:
    shown = {mount.target.rpartition("/")[2] for mount in module("coverage", None).mounts}
    assert "coverage" in shown
    assert not shown & {"pydantic", "numpy", "repoassay", "_pytest"}
    assert {"_pytest", "pluggy", "iniconfig"} <= {
        mount.target.rpartition("/")[2] for mount in module("pytest", None).mounts
    }


def test_what_nobody_has_is_said() -> None:
    with pytest.raises(CannotRun, match="has no-such-tool-anywhere"):
        module("no-such-tool-anywhere", None)


BASE = {
    "package.json": "{}\n",
    "eslint.config.js": "export default [];\n",
    "tsconfig.json": "{}\n",
    "src/a.ts": "export function a(x: number) {}\n",
    "src/b.ts": "import { a } from './a';\na(1);\n",
}
# Stand-ins that complain as the real ones do, of every line that holds a word.
ESLINT = """
const fs = require('fs');
const found = fs.readdirSync('src').map((name) => ({
  filePath: `/workspace/repo/src/${name}`,
  messages: fs.readFileSync(`src/${name}`, 'utf8').split('\\n').flatMap((text, at) =>
    text.includes('debt') ? [{ ruleId: 'no-debt', line: at + 1, message: 'No debt.' }] : []),
}));
if (fs.readFileSync('eslint.config.js', 'utf8').includes('off')) process.exit(2);
console.log(JSON.stringify(found));
process.exit(1);
"""
TSC = """
const fs = require('fs');
if (fs.readFileSync('src/a.ts', 'utf8').includes('y: number'))
  console.log("src/b.ts(2,1): error TS2554: Expected 2 arguments, but got 1.");
process.exit(2);
"""


@pytest.fixture
def node_modules(tmp_path: Path) -> Path:
    files = {
        "eslint/package.json": "{}",
        "eslint/bin/eslint.js": ESLINT,
        "typescript/package.json": "{}",
        "typescript/bin/tsc": TSC,
    }
    return projects.write(files, tmp_path / "node_modules")


def told_of(bench: ToolRunner, tmp_path: Path, head: dict[str, str]) -> dict[str, Signal]:
    base, tree = projects.write(BASE, tmp_path / "base"), projects.write(head, tmp_path / "head")
    return {each.id: each for each in signals(base, tree, projects.diff(BASE, head), None, bench)}


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_eslint_and_tsc_are_the_projects(bench: ToolRunner, tmp_path: Path, node_modules: Path) -> None:
    head = BASE | {
        "src/a.ts": "// debt\nexport function a(x: number, y: number) {}\n",
        "eslint.config.js": "export default ['off'];\n",
    }
    told = told_of(replace(bench, node_modules=node_modules), tmp_path, head)
    assert [(each.path, each.line, each.text) for each in told["eslint.changed_lines"].evidence] == [
        ("src/a.ts", 1, "eslint no-debt: No debt.")
    ]
    assert [(each.path, each.line, each.quote) for each in told["tsc.elsewhere"].evidence] == [("src/b.ts", 2, "a(1);")]
    assert [each.path for each in told["loosened"].evidence] == ["eslint.config.js"]


@pytest.mark.exhaustive
def test_without_them_or_with_those_of_the_change_they_are_unknown(bench: ToolRunner, tmp_path: Path) -> None:
    told = told_of(bench, tmp_path, BASE | {"src/a.ts": "x\n"})
    assert "eslint is not installed" in told["eslint.changed_lines"].reason
    brought = BASE | {"src/a.ts": "x\n", "node_modules/eslint/bin/eslint.js": "console.log('[]')\n"}
    told = told_of(bench, tmp_path / "again", brought)
    assert "touches node_modules" in told["eslint.changed_lines"].reason
    for id in ("diff_coverage", "existing_tests", "tests_on_base"):
        assert told[id].state is SignalState.UNKNOWN and "no Python" in told[id].reason
