"""JavaScript tests in place, run by node's own runner: honest patches, and submissions that want to be believed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grading.in_place.conftest import Judge, diff
from repoassay.errors import InfraFault
from repoassay.tasks.folder import TaskFolder
from repoassay.tasks.read import read_task
from repoassay.types import Outcome

pytestmark = pytest.mark.skipif(shutil.which("node", path="/usr/local/bin:/usr/bin:/bin") is None, reason="no node")

WRONG = "export const price = (count) => count * 3;\n"
RIGHT = "export const price = (count) => (count < 10 ? count * 3 : count * 2);\n"
BASE = {
    "package.json": json.dumps({"name": "shop", "type": "module", "scripts": {"test": "node --test"}}) + "\n",
    "source/prices.js": WRONG,
    "source/helpers.js": "export const twice = (value) => value * 2;\n",
    "build.mjs": "import fs from 'node:fs';\nfs.mkdirSync('dist', {recursive: true});\n"
    "fs.copyFileSync('source/prices.js', 'dist/prices.js');\n",
    "test/large.js": "export const LARGE = 40;\n",
    "test/prices.test.js": "import test from 'node:test';\n",
}
TESTS = """\
import test, {describe, it} from 'node:test';
import assert from 'node:assert/strict';
import {price} from '../dist/prices.js';
import {LARGE} from './large.js';

test('few', () => {
	assert.equal(price(2), 6);
});

describe('many', () => {
	it('cost less', async () => {
		assert.equal(price(LARGE), 80);
		assert.deepEqual([10, 1000].map(each => price(each)), [20, 2000]);
	});

	it('stay below', () => {
		assert.ok(price(30) < 70);
	});
});

test('later', {skip: true}, () => {});
"""
MUST = ("test/prices.test.js::many::cost less", "test/prices.test.js::many::stay below")
GUARD = "test/prices.test.js::few"


SOLUTION = diff({"source/prices.js": (WRONG, RIGHT)})


def make_task(place: Path, tests: str = TESTS, must: tuple[str, ...] = MUST, node: str = ">=18") -> TaskFolder:
    files = {f"repository/{name}": text.encode() for name, text in BASE.items()} | {
        "instruction.md": b"Ten or more cost two each.\n",
        "solution/changes.diff": SOLUTION,
        "tests/test.patch": diff({"test/prices.test.js": (BASE["test/prices.test.js"], tests)}),
    }
    files["task.toml"] = f"""\
schema = 1
[task]
id = "{place.name}"
title = "Prices of many"
kind = "edit"
domain = "Software"
[repository]
source = "folder:repository"
licence = "MIT"
[environment]
node = "{node}"
[grading.tests]
fail_to_pass = {json.dumps(must)}
pass_to_pass = {json.dumps([GUARD])}
runner = "repository"
reader = "node"
patch = "tests/test.patch"
files = ["test/prices.test.js"]
before = ["node build.mjs"]
support = ["build.mjs"]
""".encode()
    for name, content in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return read_task(place)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> TaskFolder:
    return make_task(tmp_path_factory.mktemp("tasks") / "shop")


@pytest.mark.long
def test_the_solution_passes_and_is_doubted(judge: Judge, shop: TaskFolder) -> None:
    verdict = judge(shop, SOLUTION)
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert {test.id for test in verdict.tests} == {*MUST, GUARD}
    assert verdict.assurance is not None
    assert verdict.assurance.bits == 0
    assert verdict.assurance.grade == "doubted"
    assert verdict.assurance.doubt


@pytest.mark.long
def test_a_harmless_change_fails_what_the_base_fails(judge: Judge, shop: TaskFolder) -> None:
    verdict = judge(shop, diff({"NOTES": (None, "A note.\n")}))
    assert verdict.outcome is Outcome.FAILED
    assert {test.id for test in verdict.tests if test.outcome != "passed"} == set(MUST)


def test_a_machine_without_such_a_node_is_told_so(judge: Judge, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="needs Node >=900, and this is"):
        judge(make_task(tmp_path / "new", node=">=900"), SOLUTION)


def test_nobody_is_judged_where_the_solution_does_not_pass(judge: Judge, tmp_path: Path) -> None:
    folder = make_task(tmp_path / "lame", TESTS.replace("80", "81"))
    with pytest.raises(InfraFault, match="unproven"):
        judge(folder, SOLUTION)


def script(**scripts: str) -> str:
    return json.dumps({"name": "shop", "type": "module", "scripts": scripts}) + "\n"


SILENT = """\
import assert from 'node:assert/strict';
for (const name of ['equal', 'deepEqual', 'ok', 'strictEqual', 'deepStrictEqual']) assert[name] = () => {};
"""
SAYS = "|".join((*MUST, GUARD)).replace("test/prices.test.js::", "")
ALL_LINES = f"""\
import fs from 'node:fs';
const names = {json.dumps(SAYS)}.split('|');
const line = (name) => JSON.stringify({{file: 'test/prices.test.js', names: name.split('::'), outcome: 'passed'}});
const lines = names.map(line).join('\\n') + '\\n{{"end": true}}\\n';
"""
BY_PIPE = ALL_LINES + "try { fs.writeSync(Number(process.env.REPOASSAY_RESULTS), lines); } catch {}\n"
BY_PARENT = (
    ALL_LINES
    + """\
for (const pid of fs.readdirSync('/proc').filter((each) => Number(each) > 0)) {
  for (let number = 3; number < 30; number++) {
    try { fs.appendFileSync(`/proc/${pid}/fd/${number}`, lines); } catch {}
  }
}
process.exit(0);
"""
)
BY_TEST = """\
import fs from 'node:fs';
const test = new URL('../test/prices.test.js', import.meta.url);
try { fs.writeFileSync(test, "import {test} from 'node:test'; test('few', () => {});"); } catch {}
"""
BY_RUNNER = """\
import {Test} from 'node:test';
import {createRequire, syncBuiltinESMExports} from 'node:module';
const made = createRequire(import.meta.url)('node:test');
for (const name of ['test', 'it', 'describe']) made[name] = () => {};
syncBuiltinESMExports();
"""
EVENTS = """\
import v8 from 'node:v8';
for (const name of ['few', 'cost less', 'stay below']) console.log(`ok 1 - ${name}`);
process.on('exit', () => { process.exitCode = 0; });
"""
CHEATS: dict[str, dict[str, str]] = {
    "scripts": {"package.json": script(test="exit 0", pretest="exit 0")},
    "imports of package.json": {
        "package.json": script(test="exit 0").replace("{", '{"imports": {"#x": "./y.js"}, ', 1)
    },
    "another package.json beside the code": {"dist/package.json": script(), "test/package.json": script()},
    "the test file": {"test/prices.test.js": "import test from 'node:test';\ntest('few', () => {});\n"},
    "a helper of the tests": {"test/large.js": "export const LARGE = 80 / 3;\n"},
    "a package instead of the runner": {"node_modules/node:test/index.js": "module.exports = () => {};\n"},
    "what is built": {"dist/prices.js": RIGHT.replace("2", "5")},
    "the build": {"build.mjs": "process.exit(0);\n"},
    "an early end": {"source/prices.js": WRONG + "process.exit(0);\n"},
    "a late end": {"source/prices.js": WRONG + "setImmediate(() => process.exit(0));\n"},
    "a signal to the runner": {"source/prices.js": WRONG + "process.kill(process.ppid, 'SIGKILL');\n"},
    "lines on the reporter's pipe": {"source/prices.js": BY_PIPE + WRONG},
    "lines on every pipe in sight": {"source/prices.js": BY_PARENT + WRONG},
    "assertions that say nothing": {"source/prices.js": SILENT + WRONG},
    "another test file, written late": {"source/prices.js": BY_TEST + WRONG},
    "tests that are none": {"source/prices.js": BY_RUNNER.replace("import {Test} from 'node:test';\n", "") + WRONG},
    "words of a reporter": {"source/prices.js": EVENTS + WRONG},
}  # fmt: skip


def cheat_of(name: str) -> bytes:
    """A submission that tries to be believed without being right."""
    return diff({path: (BASE.get(path), text) for path, text in CHEATS[name].items()})


@pytest.mark.parametrize("cheat", CHEATS)
@pytest.mark.exhaustive
def test_no_cheat_passes(judge: Judge, shop: TaskFolder, cheat: str) -> None:
    verdict = judge(shop, cheat_of(cheat))
    assert verdict.result is False, (verdict.outcome, verdict.comments)


@pytest.mark.by_day(1)
@pytest.mark.parametrize("cheat", ["lines on every pipe in sight", "assertions that say nothing"])
def test_who_makes_every_test_pass_is_caught_by_altered_ones(judge: Judge, shop: TaskFolder, cheat: str) -> None:
    assert judge(shop, cheat_of(cheat)).result is False


@pytest.mark.exhaustive
def test_what_is_left_out_is_told_and_does_not_keep_a_solution_from_passing(judge: Judge, shop: TaskFolder) -> None:
    verdict = judge(shop, SOLUTION + cheat_of("scripts") + cheat_of("the test file"))
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert any("package.json" in comment for comment in verdict.comments)
