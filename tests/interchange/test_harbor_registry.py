"""Data sets of a Harbor registry: fetched from named repositories alone, with nothing that leads out of them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from command_line import repoassay
from json_answers import data_of
from repoassay.errors import BadInput
from repoassay.interchange import find_dataset, import_suite, open_dataset

TASK = {
    "task.toml": 'version = "1.0"\n',
    "instruction.md": "Write the sum of the parcels to /app/sum.txt.\n",
    "environment/Dockerfile": "FROM python:3.12-slim\nWORKDIR /app\nCOPY parcels.txt .\n",
    "environment/parcels.txt": "3\n5\n",
    "tests/test.sh": "pytest /tests/test_sum.py\nif [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt\n"
    "else echo 0 > /logs/verifier/reward.txt; fi\n",
    "tests/test_sum.py": "def test_sum():\n    assert open('/app/sum.txt').read().strip() == '8'\n",
}
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n"


def write_task(place: Path, **changed: str) -> None:
    for name, content in {**TASK, **{key.replace("__", "/"): text for key, text in changed.items()}}.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content)


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Tasks a and b, one whose file lies in Git LFS, and a folder that leads out of the repository."""
    place = tmp_path / "theirs"
    for name in "ab":
        write_task(place / "tasks" / name)
    write_task(place / "tasks" / "large", **{"environment/parcels.txt": POINTER})
    write_task(tmp_path / "private")
    (place / "out").symlink_to(tmp_path)
    (place / "tasks" / "link").symlink_to(tmp_path / "private")
    git(place, "init", "--quiet")
    git(place, "add", "-A")
    git(place, "commit", "--quiet", "-m", "tasks")
    git(place, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(place, "config", "uploadpack.allowFilter", "true")
    return place


def write_registry(place: Path, *tasks: Mapping[str, Any], name: str = "parcels", version: str = "1.0") -> Path:
    rows = [
        {"name": name, "version": version, "description": "", "tasks": list(tasks)},
        {"name": "other", "version": "2.0", "description": "", "tasks": []},
    ]
    (place / "registry.json").write_text(json.dumps(rows))
    return place / "registry.json"


def entry(repository: Path, path: str, **changed: Any) -> dict[str, Any]:
    commit = git(repository, "rev-parse", "HEAD")
    told = {"name": path.rpartition("/")[2], "git_url": repository.as_uri(), "git_commit_id": commit, "path": path}
    return {**told, **changed}


@pytest.mark.long
def test_a_data_set_is_fetched_and_converted(tmp_path: Path, repository: Path) -> None:
    first = entry(repository, "tasks/a")
    write_task(repository / "tasks" / "a", **{"instruction.md": "Changed since."})
    git(repository, "commit", "--quiet", "-a", "-m", "later")
    registry = write_registry(
        tmp_path, first, entry(repository, "tasks/b", git_commit_id=None), entry(repository, "tasks/large"),
        entry(repository, "tasks/gone"), entry(repository, "tasks/link"), entry(repository, "out/private"),
    )  # fmt: skip
    asked = ("import", str(registry), "--dataset", "parcels@1.0", "--git", repository.as_uri(), "--json")
    done = repoassay(*asked, "--out", "suite", cwd=tmp_path)
    told = data_of(done.stdout)
    assert told["found"] == 6 and told["converted"] == ["a", "b"]
    why = {refusal["task"]: refusal["why"] for refusal in told["refused"]}
    assert why.keys() == {"large", "gone", "link", "private"}
    assert "Git LFS" in why["large"] and "not in the repository" in why["gone"]
    assert why["link"] == why["private"] == why["gone"]
    assert (tmp_path / "suite/tasks/a/instruction.md").read_text() == TASK["instruction.md"]
    assert not list(tmp_path.glob(".registry-*"))
    drawn = data_of(repoassay(*asked, "--out", "drawn", "--sample", "2", cwd=tmp_path).stdout)
    assert drawn["found"] == 2


def test_no_repository_is_reached_that_the_user_has_not_named(tmp_path: Path, repository: Path) -> None:
    registry = write_registry(tmp_path, entry(repository, "tasks/a"))
    done = repoassay("import", str(registry), "--dataset", "parcels", "--out", "suite", cwd=tmp_path)
    assert done.returncode == 2
    assert f"--git {repository.as_uri()}" in done.stderr and not (tmp_path / "suite").exists()
    other = ("--git", f"{repository.as_uri()}/", "--out", "suite")
    assert repoassay("import", str(registry), "--dataset", "parcels", *other, cwd=tmp_path).returncode == 2


def test_without_a_data_set_it_names_those_that_there_are(tmp_path: Path, repository: Path) -> None:
    registry = write_registry(tmp_path, entry(repository, "tasks/a"))
    done = repoassay("import", str(registry), "--out", "suite", cwd=tmp_path)
    assert done.returncode == 2 and "parcels@1.0" in done.stderr and "other@2.0" in done.stderr
    done = repoassay("import", str(registry), "--dataset", "parcels@9", "--out", "suite", cwd=tmp_path)
    assert done.returncode == 2 and "no data set parcels@9" in done.stderr


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("path", "../private"), ("path", "/private"), ("path", "tasks/../../private"), ("path", "tasks/*"), ("path", 7),
        ("git_url", "--upload-pack=touch x"), ("git_url", "-u"), ("git_url", ["x"]),
        ("git_commit_id", "--output=x"), ("git_commit_id", "main"),
    ],
)  # fmt: skip
def test_an_entry_that_leads_elsewhere_is_refused_and_the_others_are_not(
    tmp_path: Path, repository: Path, key: str, value: Any
) -> None:
    registry = write_registry(tmp_path, entry(repository, "tasks/a"), {**entry(repository, "tasks/b"), key: value})
    dataset = find_dataset(registry, "parcels")
    assert [task.name for task in dataset.tasks] == ["a"]
    assert [(refusal.task, key in refusal.why) for refusal in dataset.refused] == [("b", True)]


def test_tasks_beside_the_registry_need_no_address_and_lie_below_it(tmp_path: Path) -> None:
    place = tmp_path / "registry"
    write_task(place / "mine" / "one")
    write_task(tmp_path / "private")
    (place / "mine" / "link").symlink_to(tmp_path / "private")
    mine = [{"name": f"ann/{name}", "path": f"mine/{name}"} for name in ("one", "link")]
    dataset = find_dataset(write_registry(place, *mine), "parcels@1.0")
    with open_dataset(dataset, (), tmp_path) as folder:
        done = import_suite("harbor", folder, tmp_path / "suite", lambda: pytest.fail("nothing is run"))
    assert list(done.tasks) == ["ann-one"] and [refusal.task for refusal in dataset.refused] == ["ann/link"]


def test_a_repository_that_cannot_be_had_is_told(tmp_path: Path, repository: Path) -> None:
    url = (tmp_path / "nowhere").as_uri()
    dataset = find_dataset(write_registry(tmp_path, entry(repository, "tasks/a", git_url=url)), "parcels")
    with pytest.raises(BadInput, match="Its repository cannot be had"), open_dataset(dataset, [url], tmp_path):
        pass
