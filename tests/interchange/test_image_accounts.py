"""An account beside root is the one of a sandbox where the image gives it all that the task is about."""

from __future__ import annotations

import pytest

from interchange.test_harbor_settings import Convert, convert, taken

__all__ = ["convert"]

GIVEN = """\
FROM python:3.11
RUN useradd -m ann
WORKDIR /app
COPY data.txt /app/
RUN python3 -c "open('/app/seed', 'w')" && chown -R ann:ann /app
USER ann
"""
DATA = {"environment/data.txt": "3\n"}


@pytest.mark.parametrize(
    "dockerfile",
    [
        GIVEN,
        "FROM python:3.11\nRUN useradd -m ann && rm -rf /tmp/x\nCOPY --chown=ann . /app/\nWORKDIR /app\nUSER ann\n",
        GIVEN.replace("WORKDIR /app\n", "ENV OUT=/app/out\nRUN mkdir -p ${OUT} /logs\nWORKDIR /app\n"),
        GIVEN.replace("USER ann\n", "USER ann\nRUN python3 -c 'print(1)'\n"),
    ],
)
def test_an_account_that_owns_the_files_is_whoever_works_in_the_sandbox(convert: Convert, dockerfile: str) -> None:
    task = taken(convert({**DATA, "environment/Dockerfile": dockerfile}))
    assert task.environment.variables["HOME"] == "/home/ann"
    assert task.state is not None and {"/app", "/home/ann"} <= set(task.state.places)


def test_the_account_that_task_toml_names_is_read_the_same(convert: Convert) -> None:
    files = {**DATA, "environment/Dockerfile": GIVEN.replace("USER ann\n", "")}
    task = taken(convert({**files, "task.toml": '[agent]\nuser = "ann"\n'}))
    assert task.environment.variables["HOME"] == "/home/ann"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"environment/Dockerfile": GIVEN.replace("-R ann:ann /app", "-R ann:ann /srv")}, "/app is not ann's"),
        ({"environment/Dockerfile": GIVEN.replace("USER", "COPY data.txt /app/late\nUSER")}, "/app/late is not ann's"),
        ({"environment/Dockerfile": GIVEN.replace("USER", "RUN touch /app/late\nUSER")}, "root runs commands"),
        ({"environment/Dockerfile": GIVEN.replace("USER", "RUN touch /app/late && chown ann /app\nUSER")}, "root runs"),
        ({"environment/Dockerfile": GIVEN.replace("USER ann", "USER bob")}, "bob is not made"),
        ({"environment/Dockerfile": GIVEN, "instruction.md": "Write /app/out/sum.txt without sudo.\n"}, "names sudo"),
        ({"environment/Dockerfile": GIVEN, "solution/solve.sh": "whoami > /app/out/sum.txt\n"}, "names whoami"),
    ],
)
def test_rights_that_differ_refuse_a_task(convert: Convert, changed: dict[str, str], told: str) -> None:
    (refusal,) = convert({**DATA, **changed}).refused
    assert "an account beside root" in refusal.why and told in refusal.text


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("def walk(root: Path, name: str):\n    root = Path(name)\n    look(root / name, base=root)\n", False),
        ("assert open('/app/out/sum.txt').read() == 'root'\n", True),
        ("# only root may do this\n", True),
        ("with pytest.raises(PermissionError):\n    pass\n", True),
    ],
)
def test_a_variable_may_be_called_root(convert: Convert, line: str, refused: bool) -> None:
    test = f"def test_sum():\n    assert open('/app/out/sum.txt').read()\n\n\n{line}"
    done = convert({**DATA, "environment/Dockerfile": GIVEN, "tests/test_outputs.py": test})
    assert [refusal.why.startswith("Its agent works as an account") for refusal in done.refused] == [True] * refused
