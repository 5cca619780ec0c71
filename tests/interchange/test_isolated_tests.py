"""Tests that uvx runs see none of the image's packages, so that some pass nobody."""

from __future__ import annotations

import pytest

from interchange.test_harbor_settings import SCRIPT, Convert, convert, taken
from repoassay.interchange.image_file import ImportRefusal
from repoassay.interchange.isolated_tests import check_isolated

__all__ = ["convert"]

ISOLATED = """\
uvx \\
  -p 3.13 \\
  -w pytest==8.4.1 --with pytest-json-ctrf==0.3.5 \\
  pytest --ctrf /logs/c.json /tests/t.py
"""
ASKS = {"t.py": "def test_it():\n    from flask import Flask\n    assert Flask\n"}


def test_a_package_of_the_image_is_not_there() -> None:
    with pytest.raises(ImportRefusal, match="not in the environment") as refused:
        check_isolated(ISOLATED, ASKS, ["Flask==3.1.1"])
    assert (refused.value.file, refused.value.line, refused.value.text) == ("tests/t.py", 2, "flask")


def test_a_package_may_be_called_otherwise_than_its_module() -> None:
    with pytest.raises(ImportRefusal, match="not in the environment"):
        check_isolated(ISOLATED, {"t.py": "import yaml\n"}, ["PyYAML"])


@pytest.mark.parametrize(
    ("script", "program", "packages"),
    [
        (ISOLATED, "import flask\n", []),
        (ISOLATED, "import app\nimport json\n", ["flask"]),
        (ISOLATED, "try:\n    import flask\nexcept ImportError:\n    flask = None\n", ["flask"]),
        (ISOLATED, "import pytest_httpserver\nimport pytest\n", ["pytest", "pytest-httpserver"]),
        (ISOLATED.replace("-w pytest==8.4.1", "-w flask"), "import flask\nimport jinja2\n", ["flask", "jinja2"]),
        (ISOLATED.replace("-w pytest==8.4.1", "--with-requirements /tests/r.txt"), "import flask\n", ["flask"]),
        (f"{ISOLATED}python -m pytest /tests/t.py\n", "import flask\n", ["flask"]),
        ("pytest /tests/t.py\n", "import flask\n", ["flask"]),
        ("uv run pytest /tests/t.py\n", "import flask\n", ["flask"]),
        ("# uvx pytest\npip install pytest\npython3 -m pytest /tests\n", "import flask\n", ["flask"]),
        (ISOLATED, "no Python\n", ["no"]),
    ],
)
def test_what_may_be_there_refuses_nothing(script: str, program: str, packages: list[str]) -> None:
    check_isolated(script, {"t.py": program, "more.sh": "import flask\n"}, packages)


def test_such_a_task_is_refused_where_its_image_has_the_package_alone(convert: Convert) -> None:
    script = SCRIPT.replace("pytest ", "uvx -w pytest==8.4.1 pytest ", 1)
    files = {"tests/test.sh": script, "tests/test_outputs.py": "import numpy\n\n\ndef test_sum():\n    assert numpy\n"}
    image = "FROM python:3.11\nWORKDIR /app\nRUN pip install numpy\n"
    (refusal,) = convert({**files, "environment/Dockerfile": image}).refused
    assert "not in the environment" in refusal.why


def test_tests_of_the_image_itself_are_taken(convert: Convert) -> None:
    image = "FROM python:3.11\nWORKDIR /app\nRUN pip install numpy\n"
    test = "import numpy\n\n\ndef test_sum():\n    assert open('/app/out/sum.txt').read() and numpy\n"
    taken(convert({"environment/Dockerfile": image, "tests/test_outputs.py": test}))
