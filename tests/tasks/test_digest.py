"""The digest of a folder depends on what is in it and on nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from repoassay.errors import BadInput
from repoassay.tasks import digest_folder

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20).filter(
    lambda name: name not in {".", "..", "__pycache__"} and not name.endswith(".pyc") and len(name.encode()) < 200
)
TREES = st.dictionaries(st.tuples(NAMES, NAMES), st.tuples(st.binary(max_size=50), st.booleans()), max_size=5)
Tree = dict[tuple[str, str], tuple[bytes, bool]]


def lay(root: Path, tree: Tree) -> Path:
    """One folder deep, so that no file is in another's way."""
    for (folder, name), (content, executable) in tree.items():
        file = root / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(0o755 if executable else 0o600)
    return root


@given(TREES, st.randoms())
@settings(max_examples=50, deadline=None)
def test_place_time_and_order_do_not_count(
    tmp_path_factory: pytest.TempPathFactory, tree: Tree, random: object
) -> None:
    one = lay(tmp_path_factory.mktemp("one"), tree)
    items = list(tree.items())
    random.shuffle(items)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    other = lay(tmp_path_factory.mktemp("other"), dict(items))
    (other / "empty").mkdir(exist_ok=True)
    (other / "__pycache__").mkdir()
    (other / "__pycache__/x").write_text("x")
    (other / "module.pyc").write_text("x")
    for path in other.rglob("*"):
        os.utime(path, (1, 1))
    assert digest_folder(one) == digest_folder(other)


@given(TREES, TREES)
@settings(max_examples=50, deadline=None)
@pytest.mark.long
def test_two_trees_share_a_digest_only_when_alike(
    tmp_path_factory: pytest.TempPathFactory, one: Tree, other: Tree
) -> None:
    digests = [digest_folder(lay(tmp_path_factory.mktemp("tree"), tree)) for tree in (one, other)]
    assert (digests[0] == digests[1]) == (one == other)


def test_content_cannot_pass_for_a_name(tmp_path: Path) -> None:
    lay(tmp_path, {("a", "b"): (b"c", False)})
    lay(tmp_path / "other", {("a", "bc"): (b"", False)})
    assert digest_folder(tmp_path / "a") != digest_folder(tmp_path / "other/a")


def test_what_was_digested_stays_digested_alike(tmp_path: Path) -> None:
    """Runs on disk hold digests: a change here makes every one of them stale."""
    lay(tmp_path, {("a", "b"): (b"c", False), ("a", "x"): (b"y", True)})
    assert digest_folder(tmp_path) == "be49487d81ab4051718b732ea2e3550ac626f334f060334af5fa18596707b250"


def test_links_count_by_target_and_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one/link").symlink_to("/")
    one = digest_folder(tmp_path / "one")
    (tmp_path / "one/link").unlink()
    (tmp_path / "one/link").symlink_to("/etc")
    assert digest_folder(tmp_path / "one") != one
    (tmp_path / "one/link").unlink()
    assert digest_folder(tmp_path / "one") != one


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    empty = digest_folder(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert digest_folder(tmp_path) == empty


def test_names_that_are_no_text_count(tmp_path: Path) -> None:
    before = digest_folder(tmp_path)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_text("x")
    assert digest_folder(tmp_path) != before


def test_a_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        digest_folder(tmp_path / "nowhere")
