"""Suites are found by name or path, read whole, and refused whole."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from repoassay.errors import BadInput, BadTask
from repoassay.tasks import Advice
from repoassay.tasks.bundled import bundled_suites
from repoassay.tasks.suite import SuiteFolder, find_suite
from repoassay.tasks.suite_lint import lint_suite
from repoassay.tasks.suite_location import locate

MINI = Path(__file__).parents[1] / "assets/suites/mini"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MINI, tmp_path / "mini"))


def ids(found: SuiteFolder) -> list[str]:
    return [folder.task.id for folder in found.tasks]


def test_every_bundled_suite_is_sound_and_needs_no_advice() -> None:
    assert "starter" in bundled_suites()
    for name in bundled_suites():
        found = find_suite(name)
        assert found.suite.name == name
        assert ids(found) == sorted(ids(found))
        if found.manifest is None:  # what a suite whose data is kept apart lacks, depends on the machine
            assert [str(item) for problems in lint_suite(name).values() for item in problems] == []


def test_a_suite_folder(suite: Path) -> None:
    found = find_suite(suite)
    assert (found.suite.name, found.suite.version) == ("mini", "1")
    assert ids(found) == ["fix-total", "sum-ledger"]
    assert found.path == suite.resolve()
    assert found.repositories == suite.resolve() / "repositories"


def test_a_folder_of_tasks_finds_repositories_beside_it(suite: Path) -> None:
    found = find_suite(str(suite / "tasks"))
    assert ids(found) == ["fix-total", "sum-ledger"]
    assert (found.suite.name, found.suite.version) == ("tasks", "unversioned")
    assert found.repositories == suite.resolve() / "repositories"


def test_a_folder_of_tasks_with_other_folders_among_them(suite: Path) -> None:
    for name in ("repositories", "docs", ".git", "__pycache__"):
        (suite / "tasks" / name).mkdir()
    (suite / "tasks/README.md").write_text("x")
    shutil.copytree(suite / "repositories/sums", suite / "tasks/repositories/sums")
    found = find_suite(suite / "tasks")
    assert ids(found) == ["fix-total", "sum-ledger"]
    assert found.repositories == suite.resolve() / "tasks/repositories"


def test_one_task_folder(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ids(find_suite(suite / "tasks/fix-total")) == ["fix-total"]
    monkeypatch.chdir(suite / "tasks/fix-total")
    found = find_suite(".")
    assert ids(found) == ["fix-total"]
    assert found.suite.name == "fix-total"


@pytest.mark.parametrize("name", ["ä task", "---", "x" * 200])
def test_any_folder_name_gives_a_usable_suite_name(suite: Path, name: str) -> None:
    found = find_suite((suite / "tasks").rename(suite / name))
    assert 0 < len(found.suite.name) <= 64


def test_only_takes_globs(suite: Path) -> None:
    assert ids(find_suite(suite, only=["fix-*"])) == ["fix-total"]
    assert ids(find_suite(suite, only=["nothing", "sum-ledger"])) == ["sum-ledger"]
    assert ids(find_suite(suite, only=["*"])) == ["fix-total", "sum-ledger"]


def test_only_that_matches_nothing_lists_the_tasks(suite: Path) -> None:
    with pytest.raises(BadInput) as caught:
        find_suite(suite, only=["Fix-*", "y"])
    assert (
        str(caught.value)
        == "No task of mini matches 'Fix-*' or 'y'. Did you mean fix-*? Its tasks are: fix-total, sum-ledger."
    )
    with pytest.raises(BadInput, match=r"matches 'fix-total,sum-ledger'\. Name each task by itself\. Its tasks"):
        find_suite(suite, only=["fix-total,sum-ledger"])


def test_tasks_not_asked_for_may_be_broken(suite: Path) -> None:
    (suite / "tasks/sum-ledger/task.toml").write_text("x")
    assert ids(find_suite(suite, only=["fix-*"])) == ["fix-total"]


def test_problems_of_all_tasks_come_together(suite: Path) -> None:
    (suite / "tasks/sum-ledger/task.toml").write_text("x")
    (suite / "tasks/fix-total/instruction.md").unlink()
    (suite / "tasks/empty").mkdir()
    (suite / "tasks/way-out").symlink_to("/etc")
    with pytest.raises(BadTask) as caught:
        find_suite(suite)
    said = str(caught.value)
    assert f"The suite {suite.resolve()} has " in said
    assert "tasks/sum-ledger/task.toml: is not TOML: line 1" in said
    assert "tasks/fix-total/instruction.md: is missing." in said
    assert "tasks/empty/task.toml: is missing." in said
    assert "tasks/way-out/.: is a link." in said


def test_two_tasks_may_not_share_an_id(suite: Path) -> None:
    shutil.copytree(suite / "tasks/fix-total", suite / "tasks/fix-again")
    with pytest.raises(BadTask, match="no two tasks may share one"):
        find_suite(suite)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "startr",
            "There is no suite or folder 'startr'. Did you mean starter? "
            "Bundled suites: gittaskbench, pull-requests, starter",
        ),
        ("no/where", "There is no suite or folder 'no/where'."),
        ("a\0b", r"There is no suite or folder 'a\x00b'."),
        ("x" * 5000, "There is no suite or folder 'xxxx"),
        ("\x1b[2J", r"There is no suite or folder '\x1b[2J'."),
        (__file__, "test_suite.py' is not a folder."),
        ("", "No suite or folder is named."),
    ],
)
def test_names_of_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput) as caught:
        find_suite(name)
    assert words in str(caught.value)
    assert "starter" in caught.value.remedy


def test_a_folder_without_tasks(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no tasks"):
        find_suite(tmp_path)
    (tmp_path / "suite.toml").write_text((MINI / "suite.toml").read_text())
    with pytest.raises(BadInput, match=r"holds no tasks. Put its task folders into its folder tasks/"):
        find_suite(tmp_path)
    (tmp_path / "tasks").symlink_to(MINI / "tasks")
    with pytest.raises(BadInput, match="holds no tasks"):
        find_suite(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("schema = 1", "", "suite.toml: schema: is missing."),
        ("schema = 1", "schema = 1.0", "suite.toml: schema: is 1.0; this version reads 1."),
        ("[suite]", "[suit]", "suite.toml: suit: is not a known key. Did you mean suite?"),
        ("version =", "verison =", "suite.toml: suite.verison: is not a known key. Did you mean version?"),
        ('version = "1"', "", "suite.toml: suite.version: is missing. Add it."),
        ('version = "1"', "version = 1", "suite.toml: suite.version: is 1. It must be text in quotes."),
        ('name = "mini"', 'name = "a b"', "suite.toml: suite.name: is 'a b'. It must start with a letter"),
        ('name = "mini"', "name = [", "suite.toml: is not TOML: line 5"),
        ("[suite]", "suite = 1\n[x]", "suite.toml: suite: is 1. It must be a table."),
    ],
)
def test_a_broken_suite_file(suite: Path, old: str, new: str, words: str) -> None:
    text = (suite / "suite.toml").read_text()
    assert old in text
    (suite / "suite.toml").write_text(text.replace(old, new))
    with pytest.raises(BadTask) as caught:
        find_suite(suite)
    assert words in str(caught.value)


def test_a_suite_file_that_is_none(suite: Path) -> None:
    (suite / "suite.toml").unlink()
    os.mkfifo(suite / "suite.toml")
    with pytest.raises(BadTask, match="it is not a regular file"):
        find_suite(suite)


def test_the_digest_follows_tasks_repositories_and_version(suite: Path) -> None:
    digests = [find_suite(suite).digest, find_suite(suite).digest]
    assert digests[0] == digests[1]
    (suite / "repositories/sums/README.md").write_text("changed")
    digests.append(find_suite(suite).digest)
    (suite / "tasks/fix-total/instruction.md").write_text("changed")
    digests.append(find_suite(suite).digest)
    (suite / "suite.toml").write_text((suite / "suite.toml").read_text().replace('version = "1"', 'version = "2"'))
    digests.append(find_suite(suite).digest)
    assert len(set(digests)) == 4


def test_unknown_metrics_are_problems_only_when_the_known_ones_are_given(suite: Path) -> None:
    assert len(find_suite(suite).tasks) == 2
    with pytest.raises(BadTask, match="is not a metric"):
        find_suite(suite, metrics=["opens"])


def test_linting_goes_on_after_a_broken_task(suite: Path) -> None:
    (suite / "tasks/fix-total/task.toml").write_bytes(b"\xff")
    text = (suite / "tasks/sum-ledger/task.toml").read_text()
    (suite / "tasks/sum-ledger/task.toml").write_text(text.partition("[economics]")[0])
    (suite / "tasks/way-out").symlink_to("/")
    found = lint_suite(suite)
    assert list(found) == ["fix-total", "sum-ledger", "way-out"]
    assert found["fix-total"][0].file == "tasks/fix-total/task.toml"
    assert isinstance(found["sum-ledger"][0], Advice)
    assert found["way-out"][0].what == "is a link."


def test_locating_reads_no_task(suite: Path) -> None:
    (suite / "tasks/fix-total/task.toml").write_bytes(b"\xff")
    assert [folder.name for folder in locate(suite).folders] == ["fix-total", "sum-ledger"]
