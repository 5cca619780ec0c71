"""Heads that attack: nothing leaves the sandbox, nothing crashes, and what could not run says why."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.signals import Signal, SignalState, ToolRunner, signals
from repoassay.types import Limits
from signals import projects

SHORT = Limits(seconds=4, memory=2**30)


@pytest.fixture
def attacked(bench: ToolRunner, base: Path, tmp_path: Path) -> Attack:
    return Attack(bench, base, tmp_path)


class Attack:
    def __init__(self, bench: ToolRunner, base: Path, folder: Path) -> None:
        self.bench, self.base, self.folder = bench, base, folder

    def __call__(self, changed: Mapping[str, str], *, limits: Limits | None = None) -> dict[str, Signal]:
        head = projects.reference() | dict(changed)
        tree = projects.write(head, self.folder / "head")
        return self.on(tree, projects.diff(projects.base_files(), head), limits)

    def on(self, tree: Path, diff: bytes, limits: Limits | None = None) -> dict[str, Signal]:
        bench = replace(self.bench, suite_limits=limits) if limits else self.bench
        return {each.id: each for each in signals(self.base, tree, diff, None, bench)}


@pytest.mark.exhaustive
def test_a_conftest_reaches_nothing_outside(attacked: Attack, tmp_path: Path) -> None:
    left, secret = tmp_path / "left", tmp_path / "secret"
    secret.write_text("hidden")
    conftest = f"""
import os, pathlib, socket
found = []
for attempt in (
    lambda: pathlib.Path({str(left)!r}).write_text("out"),
    lambda: pathlib.Path({str(secret)!r}).read_text(),
    lambda: socket.create_connection(("192.0.2.1", 80), 1),
    lambda: pathlib.Path({str(attacked.base / "README.md")!r}).write_text("changed"),
    lambda: os.kill({os.getpid()}, 0),
):
    try:
        attempt()
        found.append("escaped")
    except OSError:
        pass
assert not found
"""
    told = attacked({"conftest.py": conftest})
    assert told["existing_tests"].state is SignalState.SILENT, "an attempt that works would fail every test"
    assert not left.exists()
    assert "Prices" in (attacked.base / "README.md").read_text()


@pytest.mark.exhaustive
@pytest.mark.parametrize("code", ["import os; os._exit(0)", "raise SystemExit(0)", "import sys; sys.exit(7)"])
def test_a_run_that_ends_early_is_unknown(attacked: Attack, code: str) -> None:
    told = attacked({"tests/conftest.py": code})
    for id in ("existing_tests", "diff_coverage", "tests_on_base"):
        assert told[id].state in (SignalState.UNKNOWN, SignalState.FINDING)
    assert told["diff_coverage"].reason or told["diff_coverage"].evidence


@pytest.mark.exhaustive
def test_tests_that_never_end_are_unknown_and_say_so(attacked: Attack) -> None:
    told = attacked({"tests/conftest.py": "while True: pass\n"}, limits=SHORT)
    assert told["diff_coverage"].state is SignalState.UNKNOWN
    assert "did not finish within 4 seconds" in told["diff_coverage"].reason


@pytest.mark.exhaustive
def test_tests_that_take_all_memory_are_unknown_and_say_so(attacked: Attack) -> None:
    told = attacked({"tests/conftest.py": "x = [bytearray(2**26) for _ in range(10**4)]\n"}, limits=SHORT)
    # The limit ends the run, or the interpreter meets it first and fails.
    assert told["diff_coverage"].state in (SignalState.UNKNOWN, SignalState.FINDING)


@pytest.mark.exhaustive
def test_configuration_and_plugins_of_the_head_are_not_used(attacked: Attack) -> None:
    head = projects.linted()
    head["pyproject.toml"] = head["pyproject.toml"].replace(
        "[tool.mypy]", '[tool.mypy]\nplugins = ["evil.py"]\nignore_errors = true'
    )
    head["parcels/ruff.toml"] = 'lint.ignore = ["F841"]\n'
    head["mypy.ini"] = "[mypy]\nignore_errors = True\n"
    head["evil.py"] = "raise SystemExit('ran')\n"
    head["parcels/pricing.py"] += '\n\nWRONG: int = "text"\n'
    told = attacked(head)
    assert [each.text[:9] for each in told["ruff.changed_lines"].evidence] == ["ruff F841"]
    assert "Incompatible types" in told["mypy.changed_lines"].evidence[0].text
    assert {each.path for each in told["loosened"].evidence} == {"pyproject.toml", "parcels/ruff.toml", "mypy.ini"}


@pytest.mark.exhaustive
def test_modules_named_like_tools_are_not_imported_for_them(attacked: Attack) -> None:
    shadows = {
        f"{name}.py": "raise RuntimeError('shadowed')\n" for name in ("pytest", "coverage", "mypy", "lizard", "runpy")
    }
    told = attacked(shadows)
    for id in ("mypy.changed_lines", "complexity", "existing_tests"):
        assert told[id].state is not SignalState.UNKNOWN or "shadowed" not in told[id].reason


@pytest.mark.exhaustive
def test_what_cannot_be_parsed_is_passed_over(attacked: Attack) -> None:
    told = attacked({
        "parcels/deep.py": "x = " + "(" * 5000 + ")" * 5000 + "\n",
        "parcels/deeper.py": "x = " + "-" * 100_000 + "1\n",
        "parcels/chain.py": "x = a" + ".b" * 50_000 + "\n",
        "parcels/bad.py": "def (:\n",
        "parcels/null.py": "x = '\0'\n",
        "parcels/quotes.py": '"""' * 9999,
        "parcels/stars.js": "/*" * 100_000,
        "tests/test_bad.py": "def test_x(:\n",
    })  # fmt: skip
    assert told["diff_coverage"].state in (SignalState.FINDING, SignalState.UNKNOWN)
    assert len(told) == 27


@pytest.mark.exhaustive
def test_links_and_folders_in_place_of_files(attacked: Attack, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("SECRET_WORD = 1\nprint(SECRET_WORD)\n")
    head = projects.reference()
    tree = projects.write(head, tmp_path / "head")
    (tree / "parcels/link.py").symlink_to(secret)
    (tree / "outside").symlink_to(tmp_path)
    (tree / "pyproject.toml").unlink()
    (tree / "pyproject.toml").symlink_to(secret)
    (tree / "CHANGELOG.md").unlink()
    (tree / "CHANGELOG.md").mkdir()
    os.mkfifo(tree / "parcels/pipe.py")
    more = {
        "parcels/link.py": "x",
        "outside/secret.py": "x",
        "pyproject.toml": "x",
        "parcels/pipe.py": "x",
        "../up.py": "x",
    }
    told = attacked.on(tree, projects.diff(projects.base_files(), head | more))
    assert "SECRET_WORD" not in repr(told)
    assert told["ruff.changed_lines"].state is SignalState.UNKNOWN
    assert "could not be started" in told["ruff.changed_lines"].reason


@pytest.mark.exhaustive
def test_names_and_lines_are_fit_to_print(attacked: Attack) -> None:
    told = attacked({"parcels/e\x1b[31m\u202evil.py": "def go():\n    print('\x1b[2J')\n    breakpoint()\n"})
    evidence = [each for signal in told.values() for each in signal.evidence]
    assert any("vil.py" in each.path for each in evidence)
    for each in evidence:
        assert (each.path + each.quote + each.text).isprintable()
        assert each.anchor.isascii()


@pytest.mark.exhaustive
def test_a_huge_change_is_bounded(attacked: Attack) -> None:
    many = {f"parcels/part_{each}.py": "".join(f"def f{line}():\n    print({line})\n\n\n" for line in range(1000))
            for each in range(15)}  # fmt: skip
    told = attacked(many)
    assert told["debug_prints"].more > 10_000
    assert len(told["debug_prints"].evidence) == 50
    assert len(repr(told)) < 500_000
