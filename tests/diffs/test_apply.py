"""Where hunks go, what stands in the way of a file, and that the base is only read where the patch touches it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from repoassay.diffs import Changes, PatchError, apply_patch, read_patch
from repoassay.diffs.locate import LineSearch, splice
from repoassay.types.files import FileEdit

Edits = dict[str, FileEdit | None]


def diff(hunks: str, path: str = "x") -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{hunks}"


def create(path: str, text: str = "") -> str:
    header = f"diff --git a/{path} b/{path}\nnew file mode 100644\n"
    return header + (f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{text}\n" if text else "")


def delete(path: str, text: str) -> str:
    return (
        f"diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-{text}\n"
    )


def unlink(path: str, to: str) -> str:
    """Delete a symbolic link, as git has it."""
    return delete(path, to).replace("100644", "120000") + "\\ No newline at end of file\n"


def rename(old: str, new: str, word: str = "rename") -> str:
    return f"diff --git a/{old} b/{new}\nsimilarity index 100%\n{word} from {old}\n{word} to {new}\n"


def apply(base: Path, patch: str | bytes) -> Changes:
    return apply_patch(read_patch(patch.encode() if isinstance(patch, str) else patch), base)


def refusal(base: Path, patch: str | bytes) -> PatchError:
    with pytest.raises(PatchError) as caught:
        apply(base, patch)
    return caught.value


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "x").write_text("".join(f"line {n}\n" for n in range(1, 21)))
    (tmp_path / "a").write_text("a\n")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "y").write_text("y\n")
    (tmp_path / "tool").write_text("a\n")
    (tmp_path / "tool").chmod(0o755)
    return tmp_path


# --- placing ------------------------------------------------------------------------------------------------------

MOVED = "@@ -{0},3 +{0},3 @@\n line 9\n-line 10\n+line X\n line 11\n"


@pytest.mark.parametrize("stated", [9, 1 + 1, 15, 19, 400])
def test_a_hunk_is_found_by_its_whole_context(base: Path, stated: int) -> None:
    changes = apply(base, diff(MOVED.format(stated)))
    file = changes.edits["x"]
    assert file is not None and file.content.splitlines()[9] == b"line X" and file.content.count(b"\n") == 20
    assert bool(changes.notes) == (stated != 9)
    assert all("applied at line 9 of the file" in note for note in changes.notes)


def test_several_places_are_refused(base: Path) -> None:
    (base / "x").write_text("a\nb\nc\n" * 3)
    hunk = "@@ -{0},3 +{0},3 @@\n a\n-b\n+X\n c\n"
    assert "several" in refusal(base, diff(hunk.format(2))).reason
    # Where the hunk is at its stated line, others do not matter.
    file = apply(base, diff(hunk.format(4))).edits["x"]
    assert file is not None and file.content == b"a\nb\nc\na\nX\nc\na\nb\nc\n"


def test_no_fuzz(base: Path) -> None:
    error = refusal(base, diff("@@ -9,3 +9,3 @@\n line 9\n-line 10\n+line X\n line 12\n"))
    assert str(error) == "'x', hunk 1, line 4 of the patch: line 11 of the file is 'line 11\\n', not 'line 12\\n'."
    assert "is not there" in refusal(base, diff("@@ -20,2 +20 @@\n line 20\n-line 21\n")).reason


@pytest.mark.parametrize(
    ("hunks", "reason"),
    [
        pytest.param("@@ -3 +3 @@\n-line 4\n+b\n", "is 'line 3\\n'", id="without context it is not moved"),
        pytest.param("@@ -30 +30 @@\n-line 4\n+b\n", "after the end", id="after the end"),
        pytest.param("@@ -3,0 +9 @@\n+b\n", "contradict", id="contradicting numbers without context"),
        pytest.param("@@ -9,2 +9,2 @@\n line 3\n-line 4\n+b\n", "lacks the context", id="end of the file"),
        pytest.param("@@ -1,2 +1,2 @@\n-line 4\n+b\n line 5\n", "lacks the context", id="start of the file"),
        pytest.param("@@ -1 +1 @@\n-line\n+b\n", "is 'line 1\\n'", id="half a line"),
        pytest.param(
            "@@ -20 +20 @@\n-line 20\n\\ No newline at end of file\n+b\n", "is 'line 20\\n'", id="newline there"
        ),
        pytest.param("@@ -3 +3 @@\n-line 3\n+b\n\\ No newline at end of file\n", "goes on", id="newline lost inside"),
        pytest.param(
            "@@ -1,3 +1,3 @@\n line 9\n-line 10\n+b\n line 11\n@@ -5 +5 @@\n-line 5\n+c\n", "out of order", id="order"
        ),
    ],
)
def test_placing_refused(base: Path, hunks: str, reason: str) -> None:
    assert reason in refusal(base, diff(hunks)).reason


def test_contradicting_numbers_are_not_believed(base: Path) -> None:
    (base / "x").write_text("a\nb\nc\n" * 2)
    assert "several" in refusal(base, diff("@@ -1,3 +4,3 @@\n a\n-b\n+X\n c\n")).reason


def test_lines_are_not_joined(base: Path) -> None:
    (base / "x").write_text("a")
    assert "no newline" in refusal(base, diff("@@ -1,0 +2 @@\n+b\n")).reason
    file = apply(base, diff("@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n")).edits["x"]
    assert file == FileEdit(b"a\nb\n")


def test_carriage_returns_are_content(base: Path) -> None:
    (base / "x").write_bytes(b"a\r\nb\r\n")
    assert apply(base, diff("@@ -1,2 +1,2 @@\n-a\r\n+c\r\n b\r\n")).edits["x"] == FileEdit(b"c\r\nb\r\n")
    assert "is 'a\\r\\n', not 'a\\n'" in refusal(base, diff("@@ -1,2 +1,2 @@\n-a\n+c\n b\n")).reason


def test_a_patch_with_carriage_returns_throughout_fits_each_file_with_the_line_ends_it_has(base: Path) -> None:
    (base / "windows").write_bytes(b"a\r\nb\r\n")
    windows = "--- a/windows\n+++ b/windows\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n"
    new = "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n"
    patch = (windows + new + diff("@@ -10 +10 @@\n-line 10\n+line X\n")).replace("\n", "\r\n")
    changes = apply(base, patch)
    assert changes.edits["windows"] == FileEdit(b"c\r\nb\r\n")
    assert changes.edits["new"] == FileEdit(b"n\n")
    file = changes.edits["x"]
    assert file is not None and b"\r" not in file.content and b"line X\n" in file.content
    # Within one file nothing is bent: its lines end as they do.
    (base / "windows").write_bytes(b"a\r\nb\n")
    assert "windows" in str(refusal(base, patch))


def test_a_patch_with_carriage_returns_throughout(base: Path) -> None:
    patch = diff("@@ -9,3 +9,3 @@\n line 9\n-line 10\n+line X\n line 11\n").replace("\n", "\r\n")
    changes = apply(base, patch)
    file = changes.edits["x"]
    assert file is not None and b"\r" not in file.content and b"line X\n" in file.content
    assert "CR LF" in changes.notes[0]
    # One plain line end among them, and they are content.
    assert "\\r" in refusal(base, diff("@@ -9,2 +9,2 @@\n line 9\r\n-line 10\r\n+line X\r\n")).reason
    # The refusal that got further is told.
    assert "line 11" in refusal(base, patch.replace("line 11", "line 12")).reason
    (base / "x").write_bytes((base / "x").read_bytes().replace(b"\n", b"\r\n"))
    changes = apply(base, patch)
    file = changes.edits["x"]
    assert not changes.notes and file is not None and file.content.count(b"\r\n") == 20


def test_searching_is_bounded(base: Path) -> None:
    hunk = read_patch(diff(MOVED.format(2)).encode()).files[0].hunks
    with pytest.raises(PatchError, match="too many hunks"):
        splice((base / "x").read_bytes(), hunk, "x", LineSearch(left=100))


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patch", "edits"),
    [
        pytest.param(create("n/e/w", "a"), {"n/e/w": FileEdit(b"a\n")}, id="create"),
        pytest.param(create("X", "a"), {"X": FileEdit(b"a\n")}, id="names differ in case only"),
        pytest.param(delete("a", "a"), {"a": None}, id="delete"),
        pytest.param(rename("a", "b"), {"a": None, "b": FileEdit(b"a\n")}, id="rename"),
        pytest.param(rename("tool", "b"), {"tool": None, "b": FileEdit(b"a\n", True)}, id="rename keeps the mode"),
        pytest.param(rename("a", "b", "copy"), {"b": FileEdit(b"a\n")}, id="copy"),
        pytest.param(
            rename("a", "d/y") + rename("d/y", "a"),
            {"a": FileEdit(b"y\n"), "d/y": FileEdit(b"a\n")},
            id="names swapped",
        ),
        pytest.param(
            diff("@@ -1 +1 @@\n-a\n+b\n", "a") + rename("a", "c", "copy"),
            {"a": FileEdit(b"b\n"), "c": FileEdit(b"a\n")},
            id="a copy is of the file before the diff",
        ),
        pytest.param(
            delete("a", "a") + create("a/b", "c"), {"a": None, "a/b": FileEdit(b"c\n")}, id="folder for a file"
        ),
        pytest.param(delete("a", "a") + create("a", "c"), {"a": FileEdit(b"c\n")}, id="deleted and created"),
        pytest.param(
            "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n", {"a": FileEdit(b"a\n", True)}, id="mode set"
        ),
        pytest.param(
            "diff --git a/tool b/tool\nold mode 100755\nnew mode 100644\n",
            {"tool": FileEdit(b"a\n")},
            id="mode cleared",
        ),
        pytest.param(diff("@@ -1 +1 @@\n-a\n+b\n", "tool"), {"tool": FileEdit(b"b\n", True)}, id="mode kept"),
        pytest.param("--- d/new\n+++ d/new\n@@ -0,0 +1 @@\n+b\n", {"d/new": FileEdit(b"b\n")}, id="plain, may create"),
    ],
)
def test_files(base: Path, patch: str, edits: Edits) -> None:
    changes = apply(base, patch)
    assert dict(changes.edits) == edits and list(changes.edits) == list(edits)


@pytest.mark.parametrize(
    ("patch", "edits"),
    [
        (delete("d/y", "y"), {"d/y": None, "d": None}),
        (delete("d/y", "y") + create("d/z", "c"), {"d/y": None, "d/z": FileEdit(b"c\n")}),
        (delete("d/y", "y") + create("d", "c"), {"d/y": None, "d": FileEdit(b"c\n")}),
        (create("d", "c") + delete("d/y", "y"), {"d/y": None, "d": FileEdit(b"c\n")}),  # as Git orders it
        (rename("d/y", "d"), {"d/y": None, "d": FileEdit(b"y\n")}),
        (delete("a", "a") + rename("d/y", "a/b"), {"d/y": None, "d": None, "a": None, "a/b": FileEdit(b"y\n")}),
    ],
    ids=["emptied", "another file", "a file for it", "before it", "renamed", "a folder for a file"],
)
def test_a_folder_goes_with_its_last_file(base: Path, patch: str, edits: Edits) -> None:
    assert list(apply(base, patch).edits.items()) == list(edits.items())
    (base / "d/empty").mkdir()  # no commit has one
    if edits.get("d"):
        assert "'d' is a folder in the base" in str(refusal(base, patch))
        return
    assert "d" not in apply(base, patch).edits


def test_folders_are_kept_where_no_git_kept_the_files(base: Path) -> None:
    (base / "d/e").mkdir()
    (base / "d/e/z").write_text("z\n")
    emptied = delete("d/e/z", "z") + delete("d/y", "y")
    assert dict(apply(base, emptied).keep_folders().edits) == {"d/y": None, "d/e/z": None}
    replaced = apply(base, create("d", "c") + emptied).keep_folders().edits
    assert list(replaced) == ["d/y", "d/e/z", "d/e", "d"]


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        pytest.param(diff("@@ -1 +1 @@\n-a\n+b\n", "none"), "'none' does not exist", id="absent"),
        pytest.param(diff("@@ -1 +1 @@\n-a\n+b\n", "d/none/x"), "does not exist", id="absent folder"),
        pytest.param(create("a", "b"), "since it exists", id="create over a file"),
        pytest.param(create("a"), "since it exists", id="create empty over a file"),
        pytest.param(rename("x", "a"), "since it exists", id="rename over a file"),
        pytest.param(rename("x", "a", "copy"), "since it exists", id="copy over a file"),
        pytest.param(delete("x", "line 1"), "leaves content", id="delete with content left"),
        pytest.param("diff --git a/a b/a\ndeleted file mode 100644\n", "leaves content", id="delete unseen"),
        pytest.param(create("a/b", "c"), "'a' is a file", id="file where a folder is needed"),
        pytest.param(create("d", "c"), "'d' is a folder", id="folder where a file is needed"),
        pytest.param(diff("@@ -1 +1 @@\n-a\n+b\n", "d"), "'d' is a folder", id="folder patched"),
        pytest.param(create("d", "c") + create("d/z", "c"), "'d' is a file by now", id="file and folder at once"),
        pytest.param(create("d/z", "c") + create("d", "c"), "'d' is a folder by now", id="folder and file at once"),
        pytest.param(create("n/m", "c") + create("n", "c"), "folder by now", id="new folder where a file is needed"),
        pytest.param(create("n", "c") + create("n/m", "c"), "file by now", id="new file where a folder is needed"),
        pytest.param(create("n", "c") + create("n", "c"), "since it exists", id="created twice"),
        pytest.param(delete("a", "a") + delete("a", "a"), "does not exist", id="deleted twice"),
        pytest.param(delete("a", "a") + diff("@@ -1 +1 @@\n-a\n+b\n", "a"), "does not exist", id="patched after"),
        pytest.param(rename("a", "b") + rename("a", "c"), "renamed twice", id="renamed twice"),
        pytest.param(rename("a", "b") + rename("x", "b"), "since it exists", id="two renames to one name"),
        pytest.param(rename("a", "b") + diff("@@ -1 +1 @@\n-a\n+b\n", "a"), "does not exist", id="renamed and patched"),
        pytest.param(create("link", "c"), "'link' is a symbolic link", id="over a symlink"),
        pytest.param(diff("@@ -1 +1 @@\n-a\n+b\n", "link"), "symbolic link", id="through a file symlink"),
        pytest.param(create("out/x", "c"), "'out' is a symbolic link", id="through a folder symlink"),
        pytest.param(diff("@@ -1 +1 @@\n-y\n+b\n", "in/y"), "'in' is a symbolic link", id="through a symlink inside"),
        pytest.param(rename("out/passwd", "b", "copy"), "symbolic link", id="copy through a symlink"),
        pytest.param(delete("link", "a"), "symbolic link", id="deleting a symlink as a file"),
        pytest.param(
            unlink("a", "a"), "'a' is a file in the base, where a symbolic", id="deleting a file as a symlink"
        ),
        pytest.param(unlink("d", "a"), "'d' is a folder in the base", id="deleting a folder as a symlink"),
        pytest.param(unlink("link", "b"), "is 'a', not 'b'", id="deleting a symlink that leads elsewhere"),
        pytest.param(unlink("link", "a").partition("---")[0], "leaves content", id="deleting a symlink unseen"),
        pytest.param(unlink("in/y", "y"), "'in' is a symbolic link", id="deleting through a symlink"),
        pytest.param(unlink("in", "d") + delete("in/y", "y"), "does not exist", id="what was behind a symlink"),
        pytest.param(unlink("link", "a") + unlink("link", "a"), "does not exist", id="a symlink deleted twice"),
        pytest.param(diff("@@ -1 +1 @@\n-a\n+b\n", "pipe"), "special file", id="a pipe"),
        pytest.param(
            diff("@@ -1 +1 @@\n-a\n+b\n", "a") + diff("@@ -1 +1 @@\n-b\n+a\n", "a"), "as it is", id="back again"
        ),
    ],
)
def test_files_refused(base: Path, patch: str, reason: str) -> None:
    (base / "link").symlink_to("a")
    (base / "out").symlink_to("/etc")
    (base / "in").symlink_to("d")
    os.mkfifo(base / "pipe")
    error = refusal(base, patch)
    assert reason in error.reason
    assert error.line or "as it is" in reason


@pytest.mark.parametrize(
    ("made", "edits"),
    [
        ("", {"in": None}),
        (create("in", "text"), {"in": FileEdit(b"text\n")}),
        (create("in", "d") + "\\ No newline at end of file\n", {"in": FileEdit(b"d")}),  # reads as the link did
        (create("in/new", "text"), {"in": None, "in/new": FileEdit(b"text\n")}),
    ],
    ids=["gone", "a file", "a file of the same text", "a folder"],
)
def test_a_link_is_deleted_and_gives_way(base: Path, made: str, edits: dict[str, FileEdit | None]) -> None:
    (base / "in").symlink_to("d")
    assert apply(base, unlink("in", "d") + made).edits == edits
    assert (base / "in").is_symlink()


def test_commits_of_a_mailbox_follow_one_another(base: Path) -> None:
    mail = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n"
    changes = apply(base, mail + rename("a", "b") + mail + rename("b", "c") + mail + create("a", "z"))
    assert changes.edits == {"a": FileEdit(b"z\n"), "c": FileEdit(b"a\n")}


def test_large_files_are_refused(base: Path) -> None:
    with (base / "huge").open("wb") as stream:
        stream.truncate(2**26 + 1)
    assert "larger than" in refusal(base, rename("huge", "b")).reason


def test_many_copies_are_refused(base: Path) -> None:
    with (base / "big").open("wb") as stream:
        stream.truncate(2**26)
    assert "together" in refusal(base, "".join(rename("big", f"c{n}", "copy") for n in range(5))).reason


def test_only_touched_files_are_opened(base: Path, watch_opens: Callable[[], list[str]]) -> None:
    for number in range(50):
        (base / f"other{number}").write_text("x")
    patch = read_patch((diff("@@ -1 +1 @@\n-y\n+b\n", "d/y") + create("d/new", "b")).encode())
    opened = watch_opens()
    apply_patch(patch, base)
    assert set(opened) == {str(base), "d", "y"}


@pytest.fixture
def watch_opens(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    def start() -> list[str]:
        opened: list[str] = []
        real = os.open

        def watched(path: str | Path, flags: int, *, dir_fd: int | None = None) -> int:
            assert not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            assert dir_fd is None or flags & os.O_NOFOLLOW
            opened.append(str(path))
            return real(path, flags, dir_fd=dir_fd)

        monkeypatch.setattr(os, "open", watched)
        return opened

    return start


def lenient(base: Path, patch: str) -> tuple[bytes, tuple[str, ...]]:
    changes = apply_patch(read_patch(patch.encode()), base, fuzz=2)
    (edit,) = changes.edits.values()
    assert edit is not None
    return edit.content, changes.notes


def drifted(tmp_path: Path, text: str) -> Path:
    (tmp_path / "a.txt").write_text(text)
    return tmp_path


HUNK = "--- a/a.txt\n+++ b/a.txt\n@@ -1,7 +1,7 @@\n one\n two\n three\n-old\n+new\n five\n six\n seven\n"


@pytest.mark.parametrize(
    ("base", "lost"),
    [
        ("ONE!\ntwo\nthree\nold\nfive\nsix\nseven\n", 2),
        ("one\nTWO and longer\nthree\nold\nfive\nsix\nseven\n", 4),
        ("one\ntwo\nthree\nold\nfive\nSIX\nseven\n", 4),
        ("zero\nONE\ntwo\nthree\nold\nfive\nsix\nSEVEN\nmore\n", 2),
    ],
)
def test_a_lenient_reading_lets_outer_context_differ_and_says_so(tmp_path: Path, base: str, lost: int) -> None:
    place = drifted(tmp_path, base)
    with pytest.raises(PatchError):
        apply_patch(read_patch(HUNK.encode()), place)
    content, notes = lenient(place, HUNK)
    assert content.decode() == base.replace("old\n", "new\n")
    assert notes == (f"'a.txt': hunk 1 was applied without {lost} of its lines of context.",)


@pytest.mark.parametrize(
    "base",
    [
        "one\ntwo\nTHREE\nold\nfive\nsix\nseven\n",  # the innermost line of context differs
        "one\ntwo\nthree\nOLD\nfive\nsix\nseven\n",  # what is to be replaced differs
        "x\nONE\ntwo\nthree\nold\nfive\nsix\nSEVEN\nONE\ntwo\nthree\nold\nfive\nsix\nSEVEN\n",  # two places
    ],
)
def test_a_lenient_reading_still_refuses_what_is_not_there_or_is_there_twice(tmp_path: Path, base: str) -> None:
    with pytest.raises(PatchError):
        lenient(drifted(tmp_path, base), HUNK)


def test_a_lenient_reading_leaves_exact_patches_alone(tmp_path: Path) -> None:
    assert lenient(drifted(tmp_path, "one\ntwo\nthree\nold\nfive\nsix\nseven\n"), HUNK)[1] == ()
