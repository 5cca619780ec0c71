"""Interpreters by release line: found on this machine, and copied without what others added."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from repoassay.errors import Unavailable
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Command, Mount
from repoassay.workspace import interpreters
from repoassay.workspace.interpreters import RELEASE_LINES, CPython, find_interpreter, interpreter_findings

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


def some_interpreter() -> CPython:
    for line in (OWN, *RELEASE_LINES):
        try:
            return find_interpreter(line)
        except Unavailable:
            continue
    pytest.skip("this machine has no Python but the system's own")


def test_what_is_missing_is_told_with_the_command_that_gets_it() -> None:
    with pytest.raises(Unavailable, match=r"no Python 3\.99") as told:
        find_interpreter("3.99")
    assert told.value.remedy == "Run: uv python install 3.99"


@pytest.mark.long
def test_a_look_at_the_machine_names_every_release_line() -> None:
    (finding,) = interpreter_findings()
    told = finding.detail + finding.remedy
    assert all(f"{line}." in told or f"install {line}" in told for line in RELEASE_LINES)
    assert finding.state in ("ok", "degraded")


def test_the_newest_of_a_release_line_is_taken_and_never_the_systems_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"1": ("cpython", "/opt/one", "3.9.2"), "2": ("cpython", "/opt/two", "3.9.11"),
            "3": ("cpython", "/usr", "3.9.30"), "4": ("pypy", "/opt/four", "3.9.40")}  # fmt: skip
    for name, (kind, place, version) in told.items():
        base = place if place == "/usr" else f"{tmp_path}{place}"
        program = tmp_path / name / "python3.9"
        program.parent.mkdir()
        machine = os.uname().machine
        program.write_text(f"#!/bin/sh\necho {kind} {machine} {version}; echo {base}; echo {version} build\n")
        program.chmod(0o755)
        if base != "/usr":
            Path(base, "bin").mkdir(parents=True)
            Path(base, "bin/python3.9").touch()
    monkeypatch.setenv("PATH", ":".join([*(str(tmp_path / name) for name in told), "/usr/bin", "/bin"]))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "none"))
    monkeypatch.setattr(interpreters, "_managed", lambda: ())
    interpreters._installed.cache_clear()
    try:
        assert find_interpreter("3.9").version == (3, 9, 11)
    finally:
        interpreters._installed.cache_clear()


@pytest.mark.exhaustive
def test_a_copy_works_elsewhere_and_holds_nothing_that_was_added(cache: Cache, sandbox: NamespaceSandbox) -> None:
    found = some_interpreter()
    tree = interpreters.interpreter_tree(found, cache, sandbox)
    code = "import sys, sysconfig, ssl; print(sys.prefix, sys.base_prefix, sysconfig.get_config_var('prefix'))"
    done = sandbox.run(Command(argv=("/env/bin/python", "-c", code), mounts=(Mount(tree, "/env"),)))
    assert done.stdout.decode().split() == ["/env", "/env", "/env"], done.stderr
    assert interpreters.interpreter_tree(found, cache, sandbox) == tree
    packages = {path.name.partition("-")[0] for path in tree.glob(f"lib/python{found.line}/site-packages/*.dist-info")}
    assert packages <= {"pip", "setuptools"}
    assert (tree / "bin/pip").read_text("utf-8").startswith("#!/env/bin/python")
    assert not list(tree.glob("lib/**/*.a"))
    assert next(tree.glob("lib/python3*/__pycache__/os.*.pyc"), None)
