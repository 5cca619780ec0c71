"""Trees on their way between machines: what arrives, and what is refused."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from repoassay.errors import InfraFault
from repoassay.executors.cache_share import ShareFolder, unpack_entry
from repoassay.executors.parcels import pack_tree, unpack_tree
from repoassay.sandbox import Cache


def test_a_tree_arrives_as_it_was(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub/run.sh").write_text("echo\n")
    (tree / "sub/run.sh").chmod(0o755)
    os.utime(tree / "sub/run.sh", (1_000_000_000, 1_000_000_000))
    (tree / "link").symlink_to("/usr/bin/env")
    target = tmp_path / "target"
    target.mkdir()
    unpack_tree(pack_tree({".": tree}), target)
    assert (target / "sub/run.sh").read_text() == "echo\n"
    assert (target / "sub/run.sh").stat().st_mode & 0o777 == 0o755
    assert (target / "sub/run.sh").stat().st_mtime == 1_000_000_000
    assert (target / "link").readlink() == Path("/usr/bin/env")


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as found:
        for member, content in members:
            member.size = len(content)
            found.addfile(member, io.BytesIO(content))
    return target.getvalue()


def link(name: str, leads_to: str, kind: bytes) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, leads_to
    return member


@pytest.mark.parametrize(
    "data",
    [
        archive((tarfile.TarInfo("../outside"), b"x")),
        archive((tarfile.TarInfo("/outside"), b"x")),
        archive((link("pipe", "", tarfile.FIFOTYPE), b"")),
        archive((link("device", "", tarfile.CHRTYPE), b"")),
        archive((tarfile.TarInfo("twice"), b"x"), (tarfile.TarInfo("twice"), b"y")),
        archive((link("hard", "../outside", tarfile.LNKTYPE), b"")),
        b"no archive",
    ],
)
def test_what_is_no_plain_tree_is_refused(tmp_path: Path, data: bytes) -> None:
    target = tmp_path / "inner/target"
    target.mkdir(parents=True)
    (tmp_path / "inner/outside").write_text("secret")
    with pytest.raises(InfraFault):
        unpack_tree(data, target)
    assert (tmp_path / "inner/outside").read_text() == "secret"


def test_trees_arrive_at_places_below_others(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "file").write_text("here")
    (tmp_path / "target").mkdir()
    unpack_tree(pack_tree({"a/b/one": tmp_path / "tree", "a/two": tmp_path / "tree"}), tmp_path / "target")
    for place in ("a/b/one", "a/two"):
        assert (tmp_path / "target" / place / "file").read_text() == "here"


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    target, outside = tmp_path / "target", tmp_path / "outside"
    target.mkdir()
    outside.mkdir()
    data = archive((link("way", str(outside), tarfile.SYMTYPE), b""), (tarfile.TarInfo("way/file"), b"x"))
    with pytest.raises((InfraFault, FileExistsError)):
        unpack_tree(data, target)
    assert not list(outside.iterdir())


def test_no_link_and_no_folder_is_made_through_a_link(tmp_path: Path) -> None:
    target, outside = tmp_path / "target", tmp_path / "outside"
    target.mkdir()
    outside.mkdir()
    way = link("way", str(outside), tarfile.SYMTYPE)
    for inner in ("way/link", "way/new/link"):
        data = archive((way, b""), (link(inner, "anywhere", tarfile.SYMTYPE), b""))
        with pytest.raises(InfraFault):
            unpack_tree(data, target)
        assert list(outside.iterdir()) == []
        (target / "way").unlink()


def test_two_caches_that_share_a_folder_build_an_entry_once(tmp_path: Path) -> None:
    built: list[Path] = []

    def build(part: Path) -> None:
        built.append(part)
        (part / "file").write_text("content")

    for name in ("one", "other"):
        cache = Cache(tmp_path / name, share=ShareFolder(tmp_path / "share"))
        assert (cache.entry("environments", "key", build) / "file").read_text() == "content"
        cache.entry("inputs", "key", build)  # of a kind that is not shared
    assert [path.parent.name for path in built] == ["environments", "inputs", "inputs"]


@pytest.mark.parametrize("name", ["tree", "manifest"])
def test_an_entry_of_the_cache_lies_nowhere_else(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside").mkdir()
    part = tmp_path / "entry"
    part.mkdir()
    tree = tarfile.TarInfo("tree")
    tree.type = tarfile.DIRTYPE
    given = [(link(name, str(tmp_path / "outside"), tarfile.SYMTYPE), b"")]
    data = archive(*given) if name == "tree" else archive((tree, b""), *given)
    with pytest.raises(InfraFault):
        unpack_entry(data, part)
    assert not part.is_symlink()
