"""What runs in the sandbox beside the tests must run with every Python that a task may ask for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from repoassay.grading.in_place import run
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
