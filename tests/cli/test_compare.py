"""`repoassay compare` on runs made by the product: the reference agent against one that does nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest

from command_line import repoassay
from json_answers import data_of

MINI = Path(__file__).parents[1] / "assets" / "suites" / "mini"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`runs/` with one run of two agents, on six tiny tasks."""
    folder = tmp_path_factory.mktemp("compare")
    shutil.copytree(MINI, folder / "suite", ignore=shutil.ignore_patterns("fix-total", "sum-ledger"))
    for number in range(6):
        task = (
            shutil.copytree(MINI / "tasks" / "sum-ledger", folder / "suite" / "tasks" / f"sum-{number}") / "task.toml"
        )
        task.write_text(task.read_text().replace('"sum-ledger"', f'"sum-{number}"'))
    done = repoassay("run", "suite", "--agent", "reference", "--agent", "nothing", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_p_value_is_that_of_six_coins(folder: Path) -> None:
    """All six tasks broke: 2 / 2^6."""
    done = repoassay("compare", "latest:reference", "latest:nothing", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (found,) = data_of(done.stdout)["comparisons"]
    assert found["test"]["p_value"] == 0.03125
    assert found["changes"] == {"fixed": 0, "broken": 6, "same": 0, "unknown": 0}
    assert found["difference"] == -1


@pytest.mark.long
def test_a_regression_fails_and_is_told_to_ci(folder: Path) -> None:
    done = repoassay("compare", "latest", "--fail-on-regression", "--junit", "out.xml", "--format", "md", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "Regression, reference -> nothing: The rate fell by 100.0 points" in done.stdout.replace("\\", "")
    assert parse(folder / "out.xml").getroot().get("failures") == "7"
    better = repoassay("compare", "latest:nothing", "latest:reference", "--fail-on-regression", "--any", cwd=folder)
    assert better.returncode == 0
    assert "No regression." in better.stdout


def test_it_is_a_page_too(folder: Path) -> None:
    done = repoassay("compare", "latest:reference", "latest:nothing", "--html", "compared.html", cwd=folder)
    assert done.returncode == 0 and "6 broken" in done.stdout
    page = (folder / "compared.html").read_text()
    assert "reference" in page.partition("<h1>")[2].partition("</h1>")[0]
    changed = page.partition('id="h-compared-1"')[2].partition("</section>")[0]
    assert changed.count("1/1 → 0/1") == 6 and "Of 6 tasks in common: 0 fixed, 6 broken" in changed
    assert len(list((folder / "compared_files").glob("*.html"))) == 12
    assert repoassay("compare", "latest:nothing", "latest:nothing", "--html", "same.html", cwd=folder).returncode == 0
    assert "No task came out otherwise." in (folder / "same.html").read_text()
    refused = repoassay("compare", "latest:reference", "latest:nothing", "--html", "/dev/null/x.html", cwd=folder)
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and "--html" in refused.stderr


def test_identical_systems(folder: Path) -> None:
    done = repoassay("compare", "latest:nothing", "latest:nothing", "--fail-on-regression", cwd=folder)
    assert done.returncode == 0
    assert "p = 1, no difference beyond chance" in done.stdout


def test_what_cannot_be_compared_is_a_sentence(folder: Path) -> None:
    done = repoassay("compare", "latest:reference", "nowhere", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == (
        "repoassay: nowhere is not a run folder: it has no run.json. Name a folder that `repoassay run` made.\n"
    )
