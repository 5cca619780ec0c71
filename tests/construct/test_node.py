"""JavaScript and TypeScript repositories: what their files say of their tests, and tasks made of their commits."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from construct.making import make_repo
from construct.trees import project
from repoassay.construct import ProofFinding, TaskRequest, construct_commit
from repoassay.construct.node.recipe import node_recipes
from repoassay.construct.node.scripts import NodeTestCommand, find_test_command
from repoassay.construct.node.tests import NodeTests, find_node_tests
from repoassay.errors import BadInput
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.tasks.suite import find_suite
from repoassay.workspace import node_version

DAY = datetime.date(2024, 5, 6)
TEST = "import test from 'ava';\n\ntest('a', t => {\n\tt.is(1, 1);\n});\n"


def command(scripts: dict[str, str], *installed: str) -> NodeTestCommand:
    found, _ = find_test_command(scripts, installed)
    assert found is not None
    return found


@pytest.mark.parametrize(("script", "reader", "arguments", "before"), [
    ("xo && ava", "ava", (), ()),
    ("xo && nyc --reporter=lcov ava --timeout=10m --verbose && tsd", "ava", ("--timeout=10m",), ()),
    ("xo && node --import=tsx/esm --test test/*.ts && del-cli dist && tsc", "node", ("--import=tsx/esm",), ()),
    ("tsx --test test/a.ts", "node", ("--import=tsx",), ()),
    ("node --test --test-reporter spec --test-timeout 900", "node", ("--test-timeout", "900"), ()),
    ("vitest run --coverage --config ./v.config.ts", "vitest", ("--config", "./v.config.ts"), ()),
    ("tsc && mocha -r ts-node/register --reporter dot 'test/**/*.js'", "mocha", ("-r", "ts-node/register"), ("tsc",)),
    ("tsc --noEmit && npm run build && jest --ci -w 2", "jest", ("-w", "2"), ("rollup -c",)),
    ("run-s lint unit:*", "vitest", (), ()),
    ("npm run lint && npm t", "ava", (), ()),
    ("eslint && borp --timeout 9 --expose-gc -p 'test/*.js'", "node", ("--expose-gc",), ()),
    ("npm run lint && tap --100 --ts --node-arg=--no-warnings test/*.js && jest test/jest", "tap",
     ("--ts", "--node-arg=--no-warnings"), ()),
    ("nyc tape -r esm -i .gitignore 'test/**/*.js' | tap-spec", "tape", ("-r", "esm"), ()),
    ("uvu -r tsm tests '\\.test\\.ts$' -i fixtures", "uvu", ("-r", "tsm"), ()),
    ("pnpm run /^unit:/", "vitest", (), ()),
    ("npm run lint; _mocha --timeout 4000 'test/**/*.js'", "mocha", ("--timeout", "4000"), ()),
    ("bnt --coverage 100", "node", (), ()),
    ("c8 pnpm bnt", "node", (), ()),
    ("yarn nyc mocha -r esm", "mocha", ("-r", "esm"), ()),
    ("nyc jasmine --random=true --config=spec/a.json spec/*.js", "jasmine", ("--config=spec/a.json",), ()),
])  # fmt: skip
def test_a_test_script_is_read(script: str, reader: str, arguments: tuple[str, ...], before: tuple[str, ...]) -> None:
    more = {"build": "rollup -c", "lint": "eslint .", "unit:all": "vitest"}
    more |= {"test": "ava", "unit": script} if "npm t" in script else {"test": script}
    found = command(more)
    assert (found.reader, found.arguments, found.before) == (reader, arguments, before)


def test_options_of_node_and_variables_go_with_the_runner() -> None:
    found = command({"test": "TZ=UTC node --experimental-vm-modules node_modules/jest/bin/jest.js --silent"})
    assert found.reader == "jest"
    assert found.variables == {"TZ": "UTC", "NODE_OPTIONS": "--experimental-vm-modules"}


def test_options_that_node_takes_in_no_variable_are_left_out() -> None:
    found = command({"test": "node --expose-gc ./node_modules/vitest/dist/cli-wrapper.js run"})
    assert (found.reader, found.arguments, found.variables) == ("vitest", (), {})


def test_options_of_node_for_tap_come_from_its_settings() -> None:
    package = {"scripts": {"test": "tap --node-arg=--a"}, "tap": {"node-arg": ["--b", "--loader", "ts-node/esm"]}}
    taprc = "ts: true\nnode-arg: --c\nnode-args:\n  - --d\nfiles:\n  - 'test/*.js'\n"
    found = find_node_tests(project({"package.json": json.dumps(package), ".taprc": taprc}))
    assert found.arguments == ("--require=ts-node/register", "--a", "--b", "--loader=ts-node/esm", "--c", "--d")


def test_a_script_that_calls_itself_has_an_end() -> None:
    assert find_test_command({"test": "npm run test && npm test"}, ()) == (None, "")
    assert find_test_command({"test": "yarn nyc"}, ()) == (None, "")


def test_a_file_of_tests_that_node_starts_tells_its_runner() -> None:
    def found(script: str, **files: str) -> tuple[str, tuple[str, ...]]:
        package = json.dumps({"scripts": {"test": "npm run format && npm run api", "api": f"c8 --100 {script}"}})
        tests = find_node_tests(
            project({"package.json": package, **{name.replace("_", "/"): text for name, text in files.items()}})
        )
        return tests.reader, tests.arguments

    node, tape = "import test from 'node:test'\n", "const test = require('tape');\n"
    assert found("node -C development test/index.js", **{"test_index.js": node}) == (
        "node",
        ("--conditions=development",),
    )
    assert found("tsx ./test", **{"test_index.ts": "import './a.js'\n", "test_a.js": node}) == (
        "node",
        ("--import=tsx",),
    )
    assert found("node -r esm test.js", **{"test.js": tape}) == ("tape", ("--require=esm",))


def test_without_a_script_the_packages_tell() -> None:
    for scripts in ({"build": "tsc"}, {"test": "eslint && grunt test"}, {"test": "babel-node tasks/unit.js"}):
        assert command(scripts, "left-pad", "mocha") == NodeTestCommand("mocha")
    unknown = command({"test": "hammer run test"}, "mocha")
    assert unknown == NodeTestCommand("mocha", unknown="hammer")
    tests = NodeTests(project({}), unknown)
    assert "What 'hammer' does" in node_recipes(tests, tests.project, DAY, ())[0].derivation[1]


@pytest.mark.parametrize(("package", "why"), [
    ({"scripts": {"test": "tsc && hammer run test"}}, "run with 'hammer'"),
    ({"scripts": {"test": "karma start"}}, "run with 'karma'"), ({}, "No script in package.json"), ([], "No script"),
    ({"scripts": {"test": 3}}, "No script"),
])  # fmt: skip
def test_tests_that_cannot_be_read_are_told(package: object, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        find_node_tests(project({"package.json": json.dumps(package)}))


def test_files_are_tests_by_name_place_and_content() -> None:
    files = {
        "package.json": json.dumps({"scripts": {"test": "ava"}, "ava": {"require": ["./build/setup.js"]}}),
        "build/setup.js": "", "test/a.ts": TEST, "test/helper.ts": "export const a = 1;", "test/_b.ts": TEST,
        "test/fixtures/c.ts": TEST, "source/d.test.ts": TEST, "source/e.ts": TEST, "test/f.d.ts": TEST,
    }  # fmt: skip
    found = find_node_tests(project(files))
    assert [path for path in files if found.is_test(path)] == ["test/a.ts", "source/d.test.ts"]
    assert found.support == ("build/setup.js",)


@pytest.mark.parametrize(("files", "command", "node"), [
    ({"package-lock.json": "{}"}, "npm ci ", ">=18"),
    ({}, "npm install ", ">=16"),
    ({"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, "npm exec --yes --package=pnpm@9.15.9 -- pnpm install", ">=16"),
    ({"pnpm-lock.yaml": "lockfileVersion: '9.0'\n", "pnpm-workspace.yaml": "allowBuilds:\n  a: true\n"},
     "npm exec --yes --package=pnpm@10.15.0 -- pnpm install", ">=16"),
    ({"yarn.lock": ""}, "npm install ", ">=16"),
])  # fmt: skip
def test_packages_are_installed_by_lock_file_or_date(files: dict[str, str], command: str, node: str) -> None:
    engines = {} if node == ">=18" else {"engines": {"node": "^20.1 || 16 || >=22"}}
    package = {"scripts": {"test": "ava"}, "devDependencies": {"ava": "^6"}, **engines}
    before = project({"package.json": json.dumps(package), **files})
    package["devDependencies"] = {"ava": "^6", "delay": "^6.0.0", "bad": "git+https://example.org/bad"}
    after = project({"package.json": json.dumps(package), **files})
    recipe = node_recipes(find_node_tests(after), before, DAY, ())[0]
    assert recipe.environment.node == node
    assert recipe.environment.exclude_newer == "2024-05-07"
    assert command in recipe.environment.build[0]
    assert "--ignore-scripts" in recipe.environment.build[0]
    assert [each.endswith(" 'delay@^6.0.0'") for each in recipe.environment.build[1:]] == [True] * (
        "pnpm" not in command
    )


@pytest.mark.skipif(shutil.which("npm", path="/usr/local/bin:/usr/bin:/bin") is None, reason="no node with npm")
def test_a_newer_node_than_the_machine_has_is_installed_for_the_tests(tmp_path: Path) -> None:
    package = {"scripts": {"test": "ava"}, "engines": {"node": ">=99"}, "devEngines": {"packageManager": {}}}
    files = project({"package.json": json.dumps(package)})
    made = node_recipes(find_node_tests(files), files, DAY, ())[0]
    assert made.environment.node != ">=99" and any("one of 99 comes from" in each for each in made.derivation)
    assert all(each.startswith("export npm_config_force=true; ") for each in made.environment.build)
    (tmp_path / "bin").mkdir()
    npm = tmp_path / "bin/npm"
    npm.write_text(
        '#!/bin/sh\ncase "$*" in *node-linux-*@^99) ;; *) exit 1;; esac\n[ "$npm_config_force" ] || exit 1\n'
        "mkdir -p node_modules/node-linux-a/bin && echo new > node_modules/node-linux-a/bin/node\n"
    )
    npm.chmod(0o755)
    (tmp_path / "repo").mkdir()
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    subprocess.run(["sh", "-ec", made.environment.build[-1]], cwd=tmp_path / "repo", env={"PATH": path}, check=True)
    assert (tmp_path / "repo/node_modules/.bin/node").read_text() == "new\n"


@pytest.mark.skipif(shutil.which("npm", path="/usr/local/bin:/usr/bin:/bin") is None, reason="no node with npm")
@pytest.mark.parametrize(("script", "text", "newer"), [
    ("node --test", "import a from '../src/a.ts'\ntest('a', () => {})", True),
    ("node --import tsx --test", "import a from '../src/a.ts'\ntest('a', () => {})", False),
    ("node --test", "import a from '../src/a.js'\ntest('a', () => {})", False),
    ("ava", "import a from '../src/a.ts'\ntest('a', () => {})", False),
])  # fmt: skip
def test_tests_that_load_types_by_node_alone_get_a_node_that_takes_them(script: str, text: str, newer: bool) -> None:
    files = project({"package.json": json.dumps({"scripts": {"test": script}}), "test/a.test.mjs": text})
    made = node_recipes(find_node_tests(files), files, DAY, ())[0]
    here = node_version().partition(".")[0]
    assert any("node-linux" in each for each in made.environment.build) is (newer and int(here) < 24)


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
@pytest.mark.parametrize("place", ["github:a/b", "a/b#v1", "git+ssh://git@example.org/b.git", "https://example.org/b"])
def test_packages_from_a_place_are_passed_over(place: str, tmp_path: Path) -> None:
    text = json.dumps(
        {"scripts": {"test": "ava"}, "devDependencies": {"ava": "^6", "its-fork": place, "own": "file:../b"}}
    )
    files = project({"package.json": text})
    made = node_recipes(find_node_tests(files), files, DAY, ())[0]
    assert "Passed over, since they have no version: its-fork." in made.derivation
    (tmp_path / "bin").mkdir()
    npm = tmp_path / "bin/npm"
    npm.write_text(f"#!/bin/sh\ncp package.json {tmp_path}/seen.json\n")
    npm.chmod(0o755)
    (tmp_path / "package.json").write_text(text)
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    subprocess.run(["sh", "-ec", made.environment.build[0]], cwd=tmp_path, env={"PATH": path}, check=True)
    assert json.loads((tmp_path / "seen.json").read_text())["devDependencies"] == {"ava": "^6", "own": "file:../b"}
    assert (tmp_path / "package.json").read_text() == text


@pytest.mark.parametrize(("lock", "chalk", "words"), [
    ("", "4.0.1", "at the oldest versions"),
    ('# v1\n\n"chalk@^4.0.0", chalk@^4.0.1:\n  version "4.1.2"\n  resolved "x"\n', "4.1.2", "as yarn.lock has"),
    ('__metadata:\n  version: 6\n\n"chalk@npm:^4.0.1":\n  version: 4.1.0\n', "4.1.0", "as yarn.lock has"),
])  # fmt: skip
def test_without_days_direct_packages_are_tried_at_versions_of_their_time(lock: str, chalk: str, words: str) -> None:
    package = {
        "scripts": {"test": "ava"},
        "devDependencies": {"ava": "3.15.0", "tsd": "*"},
        "dependencies": {"chalk": "^4.0.1"},
    }
    files = project({"package.json": json.dumps(package), **({"yarn.lock": lock} if lock else {})})
    *_, today, last = node_recipes(find_node_tests(files), files, DAY, ())
    assert (today.environment.exclude_newer, last.environment.exclude_newer) == (None, None)
    assert last.environment.build[0].endswith(f" ava@3.15.0 chalk@{chalk}")
    assert words in last.words
    locked = project({"package.json": json.dumps(package), "package-lock.json": "{}"})
    assert not any("what it names" in each.words for each in node_recipes(find_node_tests(locked), locked, DAY, ()))


TAP = """\
let depth = 0;
let number = 0;
const print = line => console.log('    '.repeat(depth) + line);
const point = (right, name) => { number += 1; print(`${right ? 'ok' : 'not ok'} ${number} - ${name}`); return right; };
export const test = (name, run) => {
\tconst before = number;
\tlet right = true;
\tprint(`# Subtest: ${name.replace('#', '\\\\#')}`);
\t[depth, number] = [depth + 1, 0];
\ttry {
\t\trun({
\t\t\tequal: (one, other) => { right = point(one === other, 'should be equal') && right; },
\t\t\tnotEqual: (one, other) => { right = point(one !== other, 'should not be equal') && right; },
\t\t});
\t} catch (error) {
\t\tright = point(false, error.message);
\t}
\tprint(`1..${number}`);
\t[depth, number] = [depth - 1, before];
\tpoint(right, `${name.replace('#', '\\\\#')} # time=1.5ms`);
\tprocess.exitCode = right ? process.exitCode : 1;
};
"""
"""What prints TAP as tap does."""
TAPE = """\
let number = 0;
export const test = (name, run) => {
\tconsole.log(`# ${name}`);
\tconst point = right => {
\t\tnumber += 1;
\t\tconsole.log(`${right ? 'ok' : 'not ok'} ${number} should be equal`);
\t\tif (!right) {
\t\t\tconsole.log("  ---\\n    operator: equal\\n# no title\\n  ...");
\t\t\tprocess.exitCode = 1;
\t\t}
\t};
\ttry {
\t\trun({equal: (one, other) => point(one === other), notEqual: (one, other) => point(one !== other), test});
\t} catch (error) {
\t\tpoint(false);
\t}
};
process.on('exit', () => console.log(`\\n1..${number}\\n# tests ${number}`));
"""
"""What prints TAP as tape does: without a word on what stands within what."""
UVU = """\
const tests = [];
export const test = (name, handler) => tests.push({name, handler});
setTimeout(async () => {
\tfor (const {handler} of tests) {
\t\ttry {
\t\t\tawait handler({__suite__: ''});
\t\t\tprocess.stdout.write('\\u2022 ');
\t\t} catch {
\t\t\tprocess.stdout.write('\\u2718 ');
\t\t\tprocess.exitCode = 1;
\t\t}
\t}
});
"""
"""What keeps and marks tests as uvu does."""


def test_a_change_without_tests_in_javascript_is_told_so(tmp_path: Path, cache: Cache, sandbox: Sandbox) -> None:
    repo = make_repo(tmp_path / "shop")
    repo.commit({"package.json": json.dumps({"scripts": {"test": "vitest run"}}), "shop.js": ""}, "Start")
    repo.commit({"shop.js": "export const one = 1;\n", "test/helper.js": "export const two = 2;\n"}, "Add one")
    asked = TaskRequest(str(repo.path), "HEAD", bundle=True, runner="repository")
    with pytest.raises(BadInput, match="no file in which vitest finds tests"):
        construct_commit(asked, tmp_path / "suite", cache, sandbox, times=2, workers=2)


def workspace(**root: object) -> dict[str, str]:
    """A repository whose packages start their tests themselves."""
    shop = {"name": "@x/shop", "scripts": {"test": "tsc && vitest run"}, "devDependencies": {"vitest": "^1.0.0"}}
    return {
        "package.json": json.dumps({"name": "all", "scripts": {"test": "turbo run test"}, **root}),
        "packages/shop/package.json": json.dumps(shop), "packages/shop/vitest.config.ts": "a = './build/setup.ts';",
        "packages/shop/build/setup.ts": "", "packages/shop/_a.test.ts": TEST, "packages/bank/a.test.ts": TEST,
    }  # fmt: skip


def test_tests_of_a_package_of_a_workspace_are_started_in_it() -> None:
    files = project(workspace())
    found = find_node_tests(files, ["packages/shop/a.ts", "packages/shop/_a.test.ts", "README.md"])
    assert (found.package, found.reader, found.command.before) == ("packages/shop", "vitest", ("tsc",))
    assert found.support == ("packages/shop/build/setup.ts",)
    assert [path for path in files.files if found.is_test(path)] == ["packages/shop/_a.test.ts"]
    with pytest.raises(BadInput, match="No script"):
        find_node_tests(files, ["packages/shop/a.ts", "packages/bank/a.test.ts"])
    own = project({**workspace(), "package.json": json.dumps({"scripts": {"test": "mocha"}})})
    assert find_node_tests(own, ["packages/shop/a.test.ts"]).package == ""


def test_packages_that_a_package_uses_are_built_before_it() -> None:
    def package(name: str, build: str, *uses: str) -> str:
        scripts = {"test": "mocha", "build": build}
        return json.dumps({"name": name, "scripts": scripts, "dependencies": dict.fromkeys(uses, "workspace:*")})

    files = {
        **workspace(), "packages/shop/package.json": package("@x/shop", "eslint . && rollup -c", "@x/bank", "left"),
        "packages/bank/package.json": package("@x/bank", "tsc -b", "@x/coin"),
        "coin/package.json": package("@x/coin", "npm run each", "@x/bank"),
        "node_modules/left/package.json": package("left", "make"),
    }  # fmt: skip
    found = find_node_tests(project(files), ["packages/shop/_a.test.ts"])
    assert found.builds == ('cd ../bank && PATH="$PWD/node_modules/.bin:$PATH" && tsc -b', "rollup -c")


@pytest.mark.parametrize(("more", "root", "start", "end"), [
    ({"package-lock.json": "{}"}, {"workspaces": ["packages/*"]}, "npm ci ", "--legacy-peer-deps"),
    ({"pnpm-workspace.yaml": "packages:\n  - packages/*\n", "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, {},
     "CI=true npm exec", " --filter all... --filter @x/shop..."),
    ({"packages/shop/package-lock.json": "{}"}, {}, "cd packages/shop && { npm ci ", "; }"),
])  # fmt: skip
def test_packages_of_a_workspace_are_installed_from_its_root_and_others_where_they_are(
    more: dict[str, str], root: dict[str, object], start: str, end: str
) -> None:
    files = project({**workspace(**root), **more})
    made = node_recipes(find_node_tests(files, ["packages/shop/a.test.ts"]), files, DAY, ())[0]
    build = made.environment.build[0]
    assert build.startswith(start) and build.replace("'", "").endswith(end)
    assert "They are started in packages/shop." in made.derivation


@pytest.mark.skipif(shutil.which("npm", path="/usr/local/bin:/usr/bin:/bin") is None, reason="no node with npm")
@pytest.mark.exhaustive
@pytest.mark.parametrize("shared", [True, False])
def test_a_fix_of_a_package_below_the_root_becomes_a_task(
    shared: bool, tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    repo = make_repo(tmp_path / "shops")
    root = {
        "scripts": {"test": "npm test --workspaces"},
        "license": "MIT",
        **({"workspaces": ["all/*"]} if shared else {}),
    }
    package = {
        "name": "shop",
        "version": "1.0.0",
        "type": "module",
        "scripts": {"test": "cp data.txt kept.txt && node --test", "build": "cp shop.js made.js"},
    }
    code = "export const total = prices => prices.reduce((sum, each) => sum + each, 0);\n"
    head = "import test from 'node:test';\nimport assert from 'node:assert';\nimport fs from 'node:fs';\n"
    head += "import * as shop from '../made.js';\n\n"
    old = head + "test('total', () => {\n\tassert.equal(shop.total([1, 2]), 3);\n});\n"
    new = old + "test('mean', () => {\n\tassert.equal(shop.mean([1, 3]), Number(fs.readFileSync('kept.txt')));\n});\n"
    repo.commit({
        **({"package.json": json.dumps(root)} if shared else {"LICENSE": "MIT License\n"}),
        "all/shop/package.json": json.dumps(package), "all/shop/shop.js": code, "all/shop/test/shop.js": old,
        "all/shop/data.txt": "2",
    }, "Start")  # fmt: skip
    code += "export const mean = prices => total(prices) / prices.length;\n"
    repo.commit({"all/shop/shop.js": code, "all/shop/test/shop.js": new}, "Add the mean")
    asked = TaskRequest(str(repo.path), "HEAD", bundle=True, runner="repository", licence="MIT")
    made = construct_commit(asked, tmp_path / "suite", cache, sandbox, times=2, workers=2)
    assert made.finding is ProofFinding.SOUND, (made.reasons, made.derivation)
    (folder,) = find_suite(tmp_path / "suite").tasks
    tests = folder.task.grading.tests
    assert tests is not None
    assert (tests.package, tests.files) == ("all/shop", ("all/shop/test/shop.js",))
    assert (tests.fail_to_pass, tests.pass_to_pass) == (
        ("all/shop/test/shop.js::mean",),
        ("all/shop/test/shop.js::total",),
    )
    assert tests.before == ("cp shop.js made.js", "cp data.txt kept.txt")  # what the tests are lost without


@pytest.mark.skipif(shutil.which("npm", path="/usr/local/bin:/usr/bin:/bin") is None, reason="no node with npm")
@pytest.mark.exhaustive
@pytest.mark.parametrize("runner", ["node", "borp", "tap", "tape", "uvu"])
def test_a_fix_of_a_package_becomes_a_task_with_nothing_typed(
    runner: str, tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    script = {
        "node": "eslint . && node --test",
        "borp": "borp -p 'test/*.js'",
        "tap": "tap test/*.js",
        "tape": "tape test | tap-spec",
        "uvu": "uvu test",
    }[runner]
    package = {"name": "shop", "type": "module", "license": "MIT", "scripts": {"test": script}}
    own = {"tap": TAP, "tape": TAPE, "uvu": UVU}
    old = f"import {{test}} from './support/{runner}.js';\n" if runner in own else "import test from 'node:test';\n"
    old += "" if runner in ("tap", "tape") else "import assert from 'node:assert';\n"
    old += "import {total} from '../shop.js';\n\n"
    old += "test('total #1', t => {\n\tassert.equal(total([1, 2]), 3);\n});\n"
    code = "export const total = prices => prices.reduce((sum, each) => sum + each, 0);\n"
    new = old.replace("{total}", "* as shop").replace("total(", "shop.total(")
    new += "\nfor (const [prices, wanted] of [[[1, 3], 2], [[5], 5]]) {\n"
    new += "\ttest(`average of ${prices.length}`, t => {\n\t\tassert.equal(shop.average(prices), wanted);\n\t});\n}\n"
    old, new = (each.replace("assert.", "t.") if runner in ("tap", "tape") else each for each in (old, new))
    repo = make_repo(tmp_path / "shop")
    start = {
        "package.json": json.dumps(package),
        "shop.js": code,
        "test/shop.js": old,
        f"test/support/{runner}.js": own.get(runner, ""),
    }
    repo.commit(start, "Start")
    more = code + "export const average = prices => total(prices) / prices.length;\n"
    repo.commit({"shop.js": more, "test/shop.js": new}, "Add the average")
    asked = TaskRequest(str(repo.path), "HEAD", bundle=True, runner="repository")
    made = construct_commit(asked, tmp_path / "suite", cache, sandbox, times=2, workers=2)
    assert made.finding is ProofFinding.SOUND, (made.reasons, made.derivation)
    (folder,) = find_suite(tmp_path / "suite").tasks
    tests = folder.task.grading.tests
    assert tests is not None
    assert (tests.reader, tests.files) == ("node" if runner == "borp" else runner, ("test/shop.js",))
    must = ("test/shop.js::average of 1", "test/shop.js::average of 2")
    assert (tests.fail_to_pass, tests.pass_to_pass) == (must, ("test/shop.js::total #1",))
    assert folder.task.licence == "MIT"
