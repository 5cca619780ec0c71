"""A data set as a suite: what becomes of each row, resume, and repositories that lie on this disk."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from repoassay.errors import BadInput
from repoassay.formats.mirrors import mirrors_of
from repoassay.formats.row_import import ImportReport, import_rows
from repoassay.formats.row_supplies import RowSupplies, supplies_of
from repoassay.sandbox.cache import Cache
from repoassay.tasks import find_suite, read_task
from repoassay.workspace.sources import fetch_commit, repository_at
from swe_rows import SWE, environment_of


def row(number: int, **changes: Any) -> dict[str, Any]:
    return {**SWE, "instance_id": f"pallets__flask-{number}", **changes}


def saved(folder: Path, *rows: object) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in rows))
    return file


def names(report: ImportReport) -> list[str | None]:
    return [each.task for each in report.tasks]


def test_what_cannot_be_used_stops_nothing(tmp_path: Path) -> None:
    unknown = row(3, repo="a/b")
    broken = ("{nonsense", row(2, fail_to_pass="['a'"), unknown, row(4, repo="a/b"), {"x": 1})
    file = saved(tmp_path, row(1), *broken, row(1), row(1, problem_statement="Other."), row(5), row(5))
    report = import_rows(file, tmp_path / "suite")
    assert names(report) == ["pallets__flask-1", "pallets__flask-5"]
    assert {reason: list(ids) for reason, ids in report.refused.items()} == {
        "no recipe: the table does not know the repository 'a/b'. Give the row an install_config, as SWE-rebench has"
        " it, or a docker_image.": ["pallets__flask-3", "pallets__flask-4"],
        "fail_to_pass is not JSON: column 2: expecting value": ["pallets__flask-2"],
        "is of no known format": ["line 6"],
        "another row of the file has the same id, and says otherwise": ["pallets__flask-1"],
        "is not JSON: column 2: expecting property name enclosed in double quotes": ["line 2"],
    }
    assert next(iter(report.refused)).startswith("no recipe")
    assert [task.task.id for task in find_suite(tmp_path / "suite").tasks] == names(report)
    lines = [json.loads(line) for line in (tmp_path / "suite/import.jsonl").read_text().splitlines()]
    assert len(lines) == len(report.rows) == 8
    assert next(line for line in lines if line["row"] == "pallets__flask-3")["reason"].startswith("no recipe")


def test_more_bad_rows_than_a_strict_reader_bears(tmp_path: Path) -> None:
    report = import_rows(saved(tmp_path, *(["{"] * 50), row(1)), tmp_path / "suite")
    assert (len(report.tasks), len(report.rows)) == (1, 51)


def test_a_second_import_keeps_tasks_and_refuses_others_of_the_same_name(tmp_path: Path) -> None:
    file, out = saved(tmp_path, row(1), row(2)), tmp_path / "suite"
    assert not any(each.kept for each in import_rows(file, out, only=["*-1"]).tasks)
    task = out / "tasks/pallets__flask-1/task.toml"
    before = task.stat().st_mtime_ns
    assert [each.kept for each in import_rows(file, out).tasks] == [True, False]
    assert task.stat().st_mtime_ns == before
    assert len((out / "import.jsonl").read_text().splitlines()) == 2
    changed = import_rows(saved(tmp_path, row(1, problem_statement="Something else."), row(2)), out)
    assert names(changed) == ["pallets__flask-2"]
    assert "was made of another row" in next(iter(changed.refused))


def test_a_stop_keeps_what_is_done(tmp_path: Path) -> None:
    cancel = threading.Event()
    file, out = saved(tmp_path, row(1), row(2), row(3)), tmp_path / "suite"
    report = import_rows(file, out, cancel=cancel, progress=lambda done, total: cancel.set())
    assert (report.stopped, names(report)) == (True, ["pallets__flask-1"])
    whole = import_rows(file, out)
    assert [each.kept for each in whole.tasks] == [True, False, False]
    shutil.rmtree(out / "tasks/pallets__flask-2")
    (out / "import.jsonl").unlink()  # as a kill leaves it
    assert [each.kept for each in import_rows(file, out).tasks] == [True, False, True]


def test_environments_are_found_by_id(tmp_path: Path) -> None:
    folder = tmp_path / "environments"
    folder.mkdir()
    (folder / "pallets__flask-1.yml").write_text(environment_of("3.9.20"))
    (folder / "pallets__flask-2.yml").write_bytes(b"\xff")
    report = import_rows(saved(tmp_path, row(1), row(2)), tmp_path / "suite", RowSupplies(environments=folder))
    assert names(report) == ["pallets__flask-1"]
    assert read_task(tmp_path / "suite/tasks/pallets__flask-1").task.environment.python == "3.9"
    with pytest.raises(BadInput, match=r"--environments '.*' is no folder"):
        supplies_of((), None, tmp_path / "nowhere")


def test_nothing_to_import(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"No row of .* matches 'x\*'"):
        import_rows(saved(tmp_path, row(1)), tmp_path / "suite", only=["x*"])
    with pytest.raises(BadInput, match="holds no rows"):
        import_rows(saved(tmp_path), tmp_path / "suite")
    assert not (tmp_path / "suite").exists()


def git(folder: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, str]:
    """A repository, and a commit of it that is no branch's last."""
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "x").write_text("1\n")
    git(folder, "add", "x")
    git(folder, "commit", "--quiet", "-m", "one")
    commit = git(folder, "rev-parse", "HEAD").strip()
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "two")
    return folder, commit


def test_repositories_of_a_folder(tmp_path: Path, repository: tuple[Path, str]) -> None:
    folder = tmp_path / "mirrors"
    for place in ("b+c/repo", "d/e", "f/g.git"):
        shutil.copytree(repository[0] / ".git", folder / place)
    (folder / "a--b.bundle").write_bytes(b"")
    urls = ["a/b", "b/c", "https://github.com/d/e.git", "f/g", "h/i", "ssh://x/y", "../..", "pypi:a==1"]
    found = mirrors_of(urls, folder, {"z": "there"})
    wanted = {"a/b": "a--b.bundle", "b/c": "b+c/repo", "https://github.com/d/e.git": "d/e", "f/g": "f/g.git"}
    assert found == {**{url: str(folder / place) for url, place in wanted.items()}, "z": "there"}


def test_a_commit_comes_out_of_a_bundle(tmp_path: Path, repository: tuple[Path, str]) -> None:
    origin, commit = repository
    git(origin, "bundle", "create", "--quiet", str(tmp_path / "a--b.bundle"), "--all")
    report = import_rows(
        saved(tmp_path, row(1, base_commit=commit)), tmp_path / "suite",
        RowSupplies({"pallets/flask": str(tmp_path / "a--b.bundle")}),
    )  # fmt: skip
    assert names(report) == ["pallets__flask-1"]
    source = read_task(tmp_path / "suite/tasks/pallets__flask-1").task.repository.source.removeprefix("git:")
    cache = Cache(tmp_path / "cache")
    (tmp_path / "tree").mkdir()
    fetch_commit(repository_at(source, cache), commit, tmp_path / "tree")
    assert (tmp_path / "tree/x").read_text() == "1\n"
    assert repository_at(str(origin), cache) == str(origin)
