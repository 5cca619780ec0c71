"""What runs in the sandbox beside the tests must run with every Python that a task may ask for."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from repoassay.grading.in_place import program, run
from repoassay.grading.in_place.javascript_program import command_of
from repoassay.grading.oracle.sandbox_code import observer_source, without_annotations
from repoassay.workspace import release_lines
from repoassay.workspace.interpreters import find_interpreter

VALUES = "[1, 2.5, 'x', b'y', None, {'a': (1, {2})}, re.match('a', 'a'), re.compile('b'), object().__str__, range(3)]"


@pytest.mark.long
def test_the_observer_writes_values_with_every_python_of_this_machine() -> None:
    if not release_lines():
        pytest.skip("this machine has no interpreter but the system's")
    program = f"{without_annotations(observer_source())}\nimport json, re\nprint(json.dumps(encode({VALUES})))"
    said = set()
    for line in release_lines():
        argv = [str(find_interpreter(line).program), "-I", "-S", "-c", program]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}: {done.stderr[-500:]}"
        said.add(done.stdout)
    assert len(said) == 1


@pytest.mark.long
@pytest.mark.parametrize("name", ["program.py", "service.py"])
def test_our_programs_compile_with_every_python_of_this_machine(name: str) -> None:
    source = Path(run.__file__).with_name(name).read_text("utf-8")
    for line in release_lines():
        argv = [
            str(find_interpreter(line).program),
            "-I",
            "-S",
            "-c",
            "import sys; compile(sys.stdin.read(), 'x', 'exec')",
        ]
        done = subprocess.run(argv, input=without_annotations(source), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}: {done.stderr[-500:]}"


@pytest.mark.parametrize(("version", "typecheck"), [("0.31.0", False), ("1.2.2", True), ("3.0.0-beta.1", True)])
def test_vitest_is_called_with_options_that_its_release_knows(
    version: str, typecheck: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "node_modules/vitest"
    place.mkdir(parents=True)
    (place / "package.json").write_text(json.dumps({"version": version, "bin": {"vitest": "./vitest.mjs"}}))
    monkeypatch.chdir(tmp_path)
    job = {"reader": "vitest", "arguments": [], "files": ["a.test.ts"], "only": ["a.test.ts::cached::is returned"],
           "package": ""}  # fmt: skip
    command = command_of(job)
    assert command[:3] == ["node", "node_modules/vitest/./vitest.mjs", "run"] and command[-1] == "a.test.ts"
    assert ("--typecheck.enabled=false" in command) is typecheck
    pattern = next(word for word in command if word.startswith("--testNamePattern=")).partition("=")[2]
    for name in ("cached is returned", " cached is returned"):  # some releases begin it with a blank
        assert re.search(pattern, name)
    assert not re.search(pattern, "not cached is returned")


@pytest.mark.parametrize(("version", "program"), [("5.2.0", "_mocha"), ("6.0.0", "mocha"), ("11.1.0", "mocha")])
def test_mocha_runs_in_the_process_that_has_the_pipe(
    version: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "node_modules/mocha"
    place.mkdir(parents=True)
    about = {"version": version, "bin": {"mocha": "bin/mocha", "_mocha": "bin/_mocha"}}
    (place / "package.json").write_text(json.dumps(about))
    monkeypatch.chdir(tmp_path)
    command = command_of({"reader": "mocha", "arguments": [], "files": ["a.js"], "only": [], "package": ""})
    assert command[:2] == ["node", f"node_modules/mocha/bin/{program}"]
    (tmp_path / "all/shop").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "all/shop")
    job = {"reader": "mocha", "arguments": [], "files": ["all/shop/t/a.js"], "only": [], "package": "all/shop"}
    command = command_of(job)
    assert (command[1], command[-1]) == (f"../../node_modules/mocha/bin/{program}", "t/a.js")


@pytest.mark.parametrize(("seed", "drawn"), [("2", {"seed": 2}), ("random", {}), ("", {})])
def test_sympys_tests_draw_by_the_hash_seed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seed: str, drawn: dict[str, int]
) -> None:
    calls: list[dict[str, Any]] = []

    def test(*_: str, **options: Any) -> bool:
        calls.append(options)
        return True

    runtests = SimpleNamespace(PyTestReporter=object, test=test)
    for name in ("sympy", "sympy.testing"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules["sympy.testing"], "runtests", runtests, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("SYMPY_USE_CACHE", "yes")
    monkeypatch.setenv("PYTHONHASHSEED", seed)
    job = {"root": str(tmp_path), "only": (), "files": ["sympy/tests/test_a.py"]}
    assert program.run_sympy(job, program.ResultSink(program.SignedLines(-1, b""), program.Silence(), "/")) == 0
    assert {key: value for key, value in calls[0].items() if key == "seed"} == drawn


def test_a_class_is_named_as_by_every_pytest_though_one_before_4_marks_its_instance() -> None:
    told: list[str] = []
    sink = SimpleNamespace(tell=lambda name, *_: told.append(name), hook=None)
    recorder = program.PytestRecorder(sink)  # type: ignore[arg-type]
    for name in ("a.py::TestA::()::test_b[x::()::y]", "a.py::TestA::test_c"):
        for when in ("setup", "call", "teardown"):
            report = SimpleNamespace(nodeid=name, when=when, failed=False, skipped=False, duration=0.0)
            recorder.pytest_runtest_logreport(report)
    assert told == ["a.py::TestA::test_b[x::()::y]", "a.py::TestA::test_c"]


JASMINE = """\
class Jasmine {
  addReporter(reporter) { this.told = reporter; }
  execute(files) {
    const { told } = this;
    told.suiteStarted({ description: 's' });
    told.specDone({ description: 'a', status: 'passed', duration: 5 });
    told.specDone({ description: 'b', status: 'failed', failedExpectations: [{ message: 'not 1', stack: 'at x' }] });
    told.specDone({ description: 'c', status: 'pending' });
    told.suiteDone({ description: 's' });
    if (!process.argv.includes('--random=false') || process.env.REPOASSAY_RESULTS) throw new Error('wrong');
    if (files[0].startsWith('b')) process.exit(0);
    told.jasmineDone({});
  }
}
module.exports = Jasmine;
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_jasmine_tells_its_results_and_a_file_that_ends_before(tmp_path: Path) -> None:
    home = tmp_path / "node_modules/jasmine"
    (home / "bin").mkdir(parents=True)
    (home / "package.json").write_text('{"main": "lib.js"}')
    (home / "lib.js").write_text(JASMINE)
    (home / "bin/jasmine.js").write_text("new (require('../lib.js'))().execute(process.argv.slice(-1));")
    told = told_by([str(REPORTER), "--config=a.json", "a_spec.js", "b_spec.js"], "jasmine", tmp_path)
    assert [(each["file"], each["names"], each["outcome"]) for each in told if "file" in each][:3] == [
        ("a_spec.js", ["s", "a"], "passed"), ("a_spec.js", ["s", "b"], "failed"), ("a_spec.js", ["s", "c"], "skipped"),
    ]  # fmt: skip
    assert "not 1" in told[1]["message"]
    assert [each["broken"] for each in told if "broken" in each] == ["b_spec.js"] and told[-1] == {"end": True}


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_mocha_that_starts_itself_anew_for_options_of_node_still_tells(tmp_path: Path) -> None:
    own = f"const runner = new (require('events'))(); require({json.dumps(str(REPORTER))})(runner); runner.emit('end');"
    (tmp_path / "own.js").write_text(own)
    (tmp_path / "mocha.js").write_text(
        "require('child_process').spawnSync(process.execPath, ['--throw-deprecation', 'own.js'], {stdio: 'inherit'});"
    )
    for start in ("mocha.js", "own.js"):
        assert told_by([start], "mocha", tmp_path) == [{"end": True}]


LEFT_OPEN = """\
const runner = new (require('events'))();
require(process.argv[process.argv.indexOf('--reporter') + 1])(runner);
const test = { file: 'a.js', titlePath: () => ['a'], duration: 1 };
OUTCOME;
runner.emit('end');
setTimeout(() => require('fs').writeFileSync('late', ''), SECONDS * 1000);
"""
RUNS = """\
import sys, types
from repoassay.grading.in_place import javascript_program as program
program.REPORTER = sys.argv[1]
told = types.SimpleNamespace(tell=lambda *each: print(each[:2]), hook=types.SimpleNamespace(start=lambda: None))
job = {"root": ".", "package": "", "before": [], "reader": "mocha", "arguments": [], "files": ["a.js"], "only": []}
print(program.run_node_tests(job, told))
"""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_a_runner_that_a_failed_test_keeps_from_ending_is_ended_and_any_other_is_waited_for(tmp_path: Path) -> None:
    home = tmp_path / "node_modules/mocha"
    home.mkdir(parents=True)
    (home / "package.json").write_text('{"version": "11.0.0", "bin": {"mocha": "mocha.js"}}')
    argv = [sys.executable, "-c", RUNS, str(REPORTER)]
    for outcome, told, seconds in (("fail", "failed", "100"), ("pass", "passed", "1")):
        source = LEFT_OPEN.replace("OUTCOME", f"runner.emit('{outcome}', test, new Error('x'))")
        (home / "mocha.js").write_text(source.replace("SECONDS", seconds))
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=90, check=True)
        assert done.stdout == f"('a.js::a', '{told}')\n0\n"
        assert (tmp_path / "late").exists() is (told == "passed")


REPORTER = Path(run.__file__).with_name("reporter.cjs")


def told_by(words: list[str], reader: str, folder: Path) -> list[dict[str, Any]]:
    """What node, started so, tells by the reporter's pipe."""
    reading, writing = os.pipe()
    env = {**os.environ, "REPOASSAY_READER": reader, "REPOASSAY_RESULTS": str(writing), "REPOASSAY_ROOT": str(folder)}
    subprocess.run(["node", *words], cwd=folder, env=env, check=True, pass_fds=[writing])
    os.close(writing)
    with os.fdopen(reading) as stream:
        return [json.loads(line) for line in stream]


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
@pytest.mark.parametrize("kind", ["module", "commonjs"])
def test_ava_of_either_kind_of_module_tells_its_results(kind: str, tmp_path: Path) -> None:
    home = tmp_path / "node_modules/ava"
    (home / "lib/reporters").mkdir(parents=True)
    esm = kind == "module"
    start = "cli.js" if not esm else "entrypoints/cli.mjs"
    (home / start).parent.mkdir(exist_ok=True)
    export = "export default" if esm else "module.exports ="
    load = "import Tap from '../lib/reporters/tap.js';" if esm else "const Tap = require('./lib/reporters/tap.js');"
    chosen = "" if esm else "const { get } = require('../chalk.js'); get();\n"  # which fails before one is set
    files = {
        "package.json": json.dumps({"name": "ava", **({"type": "module"} if esm else {})}),
        "lib/chalk.js": "export const set = () => {};" if esm
        else "let c; exports.get = () => { if (!c) throw new Error('unset'); }; exports.set = () => (c = 1);",
        "lib/reporters/tap.js": f"{chosen}{export} class {{ consumeStateChange() {{}} endRun() {{}} }}",
        start: f"{load}\nconst tap = new Tap();\n"
        "tap.consumeStateChange({ type: 'test-passed', testFile: 'a.js', title: 'a', duration: 1 });\ntap.endRun();\n",
    }  # fmt: skip
    for name, text in files.items():
        (home / name).write_text(text)
    env = {**os.environ, "REPOASSAY_READER": "ava", "REPOASSAY_RESULTS": "1"}
    argv = ["node", str(Path(run.__file__).with_name("reporter.cjs"))]
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert [json.loads(line).get("outcome") for line in done.stdout.splitlines()] == ["passed", None], done.stderr
