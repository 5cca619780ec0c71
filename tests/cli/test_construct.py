"""`repoassay construct`: the verb as a person and as a program see it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from construct.making import OLD_TEST, Repo, make_shop
from interrupts import interruptible
from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.errors import RepoAssayError

pytestmark = pytest.mark.exhaustive


@pytest.fixture
def shop(tmp_path: Path) -> Repo:
    return make_shop(tmp_path / "shop")


def call(repo: Repo, *words: object, instruction: str | None = "Add average(prices).") -> Result:
    told = () if instruction is None else ("--instruction", instruction)
    given = ("commit", "--repo", repo.path, "--solution", "HEAD", "--out", repo.path.with_name("suite"), *told, *words)
    return CliRunner().invoke(cli, ["construct", *(str(word) for word in given)])


def refused(repo: Repo, *words: object, instruction: str | None = "Add average(prices).") -> str:
    error = call(repo, *words, instruction=instruction).exception
    assert isinstance(error, RepoAssayError), error
    assert error.exit_code == 2
    assert error.remedy
    assert not repo.path.with_name("suite").exists()
    return str(error)


def test_help_has_examples_and_the_verb_is_listed() -> None:
    said = CliRunner().invoke(cli, ["construct", "commit", "--help"])
    assert said.exit_code == 0
    assert "Examples:" in said.output
    assert "construct" in CliRunner().invoke(cli, ["--help"]).output


def test_a_machine_with_the_system_s_python_alone_makes_a_task_of_files(shop: Repo) -> None:
    places = {"PYENV_ROOT": "/nowhere", "UV_PYTHON_INSTALL_DIR": "/nowhere", "PATH": "/usr/bin:/bin"}
    program = Path(sys.executable).with_name("repoassay")
    words = [program, "construct", "commit", "--repo", shop.path, "--solution", "HEAD",
             "--instruction", "Add average(prices).", "--bundle", "--id", "average", "--proofs", 1]  # fmt: skip
    env = {**os.environ, **places}
    suite = shop.path.with_name("suite")
    made = subprocess.run([*map(str, words), "--out", str(suite)], capture_output=True, text=True, env=env, check=False)
    assert made.returncode == 0, made.stderr
    assert "its test files run by themselves" in made.stderr and "uv python install" in made.stderr
    assert 'runner = "repository"' not in (suite / "average" / "task.toml").read_text()
    asked = [*map(str, words), "--out", f"{suite}-2", "--runner", "repository"]
    refused = subprocess.run(asked, capture_output=True, text=True, env=env, check=False)
    assert refused.returncode not in (0, 1)
    assert "uv python install" in refused.stderr and "Traceback" not in refused.stderr


def test_a_sound_task_is_made_and_validates(shop: Repo) -> None:
    made = call(shop, "--base", "HEAD~1", "--tests", "from-commit", "--bundle", "--proofs", 1, "--id", "average")
    assert made.exit_code == 0, made.output
    assert "must pass" in made.stdout and "guard" in made.stdout
    assert "✓ average is sound" in made.stdout
    suite = shop.path.with_name("suite")
    validated = CliRunner().invoke(cli, ["tasks", "validate", str(suite)])
    assert validated.exit_code == 0, validated.output
    listed = CliRunner().invoke(cli, ["tasks", "lint", str(suite)])
    assert listed.exit_code == 0, listed.output
    again = call(shop, "--tests", "from-commit", "--id", "average").exception
    assert isinstance(again, RepoAssayError)
    assert "exists" in str(again)


def test_a_refused_task_leaves_with_one_and_the_evidence(shop: Repo, tmp_path: Path) -> None:
    tests = tmp_path / "test_hidden.py"
    tests.write_text(OLD_TEST + "\n\ndef test_never():\n    assert 'a' == 'b'\n")
    made = call(shop, "--tests", tests, "--proofs", 1)
    assert made.exit_code == 1
    assert "refused as broken" in made.stdout
    assert "first failure" in made.stdout
    assert "assert 'a' == 'b'" in made.stdout
    assert not shop.path.with_name("suite").exists()


def test_json_is_one_object_with_counts(shop: Repo, tmp_path: Path) -> None:
    tests = tmp_path / "test_hidden.py"
    tests.write_text(OLD_TEST)
    made = call(shop, "--tests", tests, "--proofs", 2, "--json")
    assert made.exit_code == 1
    facts = data_of(made.stdout)
    assert (facts["finding"], facts["folder"]) == ("vacuous", None)
    (test,) = facts["tests"]
    assert test["base"] == test["solution"] == {"passed": 2, "runs": 2, "flip_rate": 0.0}
    assert test["role"] == "pass_to_pass"
    assert made.stderr == ""


def test_what_is_not_given_is_asked_for(shop: Repo, tmp_path: Path) -> None:
    assert "Give either" in refused(shop, "--tests", "from-commit", "--tests", "x.py")
    assert "cannot be read" in refused(shop, "--tests", "from-commit", instruction="@none.md")
    (tmp_path / "latin.md").write_bytes(b"\xff")
    assert "not UTF-8" in refused(shop, "--tests", "from-commit", instruction=f"@{tmp_path}/latin.md")
    assert "same commit" in refused(shop, "--tests", "from-commit", "--base", "HEAD")
    assert "no commit 'v9'" in refused(shop, "--tests", "from-commit", "--base", "v9")
    assert "no test" in refused(shop, "--tests", "from-commit", "--only", "shop.py")


def test_an_interrupt_leaves_nothing_behind(shop: Repo) -> None:
    slow = "import time, shop\n\n\ndef test_slow():\n    time.sleep(600)\n    assert shop.average([1]) == 1\n"
    shop.commit({"tests/test_shop.py": slow, "shop.py": (shop.path / "shop.py").read_text() + "\nx = 1\n"})
    out = shop.path.with_name("suite")
    words = ["construct", "commit", "--repo", str(shop.path), "--solution", "HEAD", "--tests", "from-commit",
             "--instruction", "x", "--out", str(out), "--timeout", "600"]  # fmt: skip
    program = Path(sys.executable).with_name("repoassay")
    with (
        interruptible(),
        subprocess.Popen([program, *words], stderr=subprocess.PIPE, start_new_session=True, text=True) as process,
    ):
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("trying"):
                break
        time.sleep(3)
        os.kill(process.pid, signal.SIGINT)
        said = process.stderr.read()
        assert process.wait() == 130, said
    assert "Traceback" not in said
    assert not out.exists()
