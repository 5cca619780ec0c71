"""Getting folders of one commit, and no more, from a git repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from repoassay.errors import InfraFault
from repoassay.workspace.sources import fetch_commit, fetch_folders


def git(folder: Path, *arguments: str) -> str:
    told = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(told, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> tuple[str, str]:
    folder = tmp_path / "upstream"
    for name in ("data/a.txt", "data/deep/b.txt", "code/c.py", "top.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    first = git(folder, "rev-parse", "HEAD")
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    (folder / "data/a.txt").write_text("later")
    git(folder, "commit", "-qam", "two")
    return folder.as_uri(), first


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_only_the_folders_asked_for_arrive_as_they_were(repository: tuple[str, str], tmp_path: Path) -> None:
    into = tmp_path / "into"
    into.mkdir()
    fetch_folders(*repository, ["data"], into)
    assert files(into) == {"data/a.txt", "data/deep/b.txt"}
    assert (into / "data/a.txt").read_text() == "data/a.txt"


def test_the_whole_commit_arrives_without_history(repository: tuple[str, str], tmp_path: Path) -> None:
    into = tmp_path / "into"
    into.mkdir()
    fetch_commit(*repository, into)
    assert files(into) == {"data/a.txt", "data/deep/b.txt", "code/c.py", "top.txt"}


def test_a_folder_that_is_not_there_is_our_fault_to_tell(repository: tuple[str, str], tmp_path: Path) -> None:
    into = tmp_path / "into"
    into.mkdir()
    with pytest.raises(InfraFault, match="has no folder nowhere"):
        fetch_folders(*repository, ["data", "nowhere"], into)


def test_a_copy_that_lacks_files_is_named(repository: tuple[str, str], tmp_path: Path) -> None:
    url, revision = repository
    upstream, into = tmp_path / "upstream", tmp_path / "into"
    blob = git(upstream, "rev-parse", f"{revision}:code/c.py")
    (upstream / ".git/objects" / blob[:2] / blob[2:]).unlink()
    into.mkdir()
    with pytest.raises(InfraFault, match=f"lacks files of its commit {revision[:12]}") as caught:
        fetch_commit(url, revision, into)
    assert caught.value.remedy
