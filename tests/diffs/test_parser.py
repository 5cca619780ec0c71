"""Headers and hunks that are understood, and every kind of patch text that is refused, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.diffs import ChangeKind, FileMode, PatchError, apply_patch, model as parts, read_patch

HUNK = b"@@ -1 +1 @@\n-a\n+b\n"
GIT = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n"
PLAIN = b"--- a/x\n+++ b/x\n"


def refusal(data: bytes) -> PatchError:
    with pytest.raises(PatchError) as caught:
        read_patch(data)
    return caught.value


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\t"])
def test_an_empty_patch_can_be_told_apart(data: bytes) -> None:
    error = refusal(data)
    assert error.empty and str(error) == "The patch is empty."


def test_other_refusals_are_not_empty() -> None:
    assert not refusal(b"Sorry, I could not do it.\n").empty


def test_a_refusal_says_where() -> None:
    error = refusal(GIT + HUNK + b"@@ -5,2 +5 @@\n a\n+b\n")
    assert (error.path, error.hunk, error.line) == ("x", 2, 9)
    assert str(error) == "'x', hunk 2, line 9 of the patch: the hunk has other counts of lines than its header states."


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(
            b"Sorry, I could\x1b not do it.\n",
            r'in the patch, which begins "Sorry, I could\x1b not do it."',
            id="prose",
        ),
        pytest.param(
            b"*** a/x\n--- b/x\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n",
            "no unified diff",
            id="context diff",
        ),
        pytest.param(b"diff -r a/x b/x\n1c1\n< a\n---\n> b\n", "not followed by a unified diff", id="normal diff"),
        pytest.param(b"diff --cc x\nindex 1,2..3\n", "combined", id="combined diff"),
        pytest.param(HUNK, "outside of any file's diff", id="hunk without a header"),
        pytest.param(GIT + HUNK + b"+c\n", "looks like content", id="line after the hunks"),
        pytest.param(GIT + HUNK + b"\n c\n", "looks like content", id="context after the hunks"),
        pytest.param(GIT + HUNK + b"-- \n+c\n", "looks like content", id="content after the signature"),
        pytest.param(GIT + HUNK + b"new mode 100755\n", "outside of any", id="header line after the hunks"),
        pytest.param(GIT + HUNK + b"rename to y\n", "outside of any", id="rename after the hunks"),
        pytest.param(GIT + HUNK + b"GIT binary patch\n", "outside of any", id="binary after the hunks"),
        pytest.param(GIT + b"@@ -1,2 +1 @@\n-a\n+b\n", "ends inside the hunk", id="count too large"),
        pytest.param(
            GIT + b"@@ -1,2 +1,2 @@\n-a\n+b\ndiff --git a/y b/y\n", "fewer lines", id="count reaches into the next file"
        ),
        pytest.param(GIT + b"@@ -1 +1,1 @@\n-a\n-b\n", "other counts", id="count too small"),
        pytest.param(GIT + b"@@ -0,1 +1 @@\n-a\n+b\n", "from 0", id="line 0"),
        pytest.param(GIT + b"@@ -1 +9999999999 @@\n-a\n+b\n", "not well formed", id="huge number"),
        pytest.param(GIT + b"@@ -1 +1\n-a\n+b\n", "not well formed", id="torn hunk header"),
        pytest.param(GIT + b"@@ -5 +5 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n", "out of order", id="hunks out of order"),
        pytest.param(GIT + b"@@ -1,2 +1,2 @@\n-a\n+b\n a\n@@ -2 +2 @@\n-a\n+b\n", "overlaps", id="hunks overlap"),
        pytest.param(GIT + HUNK + HUNK, "overlaps", id="hunk doubled"),
        pytest.param(
            GIT + b"@@ -1 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n+c\n",
            "follows the one marked",
            id="line after the last",
        ),
        pytest.param(GIT + b"@@ -1 +1 @@\n-a\n\\x\n+b\n", "backslash", id="not a newline mark"),
        pytest.param(
            GIT + b"@@ -1 +1 @@\n-a\n+\n\\ No newline at end of file\n", "empty line", id="empty line without newline"
        ),
        pytest.param(GIT + b"@@ -1 +1 @@\n a\n", "changes nothing", id="context only"),
        pytest.param(PLAIN + b"@@ -1 +1 @@\n-a\n+a\n", "changes nothing", id="same line"),
        pytest.param(b"diff --git a/x b/x\n", "changes nothing", id="header only"),
        pytest.param(b"diff --git a/x b/x\nindex 11111..22222 100644\n", "not there", id="content dropped"),
        pytest.param(
            b"diff --git a/x b/x\ndeleted file mode 100644\nindex 11111..00000\n", "not there", id="git diff -D"
        ),
        pytest.param(GIT, "no hunk", id="no hunk"),
        pytest.param(b"diff --git a/x b/x\n--- a/x\n@@ -1 +1 @@\n", "no '+++'", id="no plus line"),
        pytest.param(b"diff --git a/x b/x\n" + HUNK, "without '---'", id="no names before the hunk"),
        pytest.param(
            b"diff --git a/x b/x\n--- a/y\n+++ b/x\n" + HUNK, "not the one in the header", id="other old name"
        ),
        pytest.param(
            b"diff --git a/x b/x\n--- /dev/null\n+++ b/x\n" + HUNK,
            "not the one in the header",
            id="unannounced creation",
        ),
        pytest.param(
            b"diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n" + HUNK,
            "not the one in",
            id="creation of an old file",
        ),
        pytest.param(b"diff --git a/x b/y\n--- a/x\n+++ b/y\n" + HUNK, "one file twice", id="unannounced rename"),
        pytest.param(
            b"diff --git a/x b/y\nrename from x\nrename to z\n", "does not name the files", id="rename to another"
        ),
        pytest.param(
            b"diff --git a/x b/x\nrename from x\nrename to x\n", "ends where it starts", id="rename to itself"
        ),
        pytest.param(b"diff --git a/x b/y\nrename from x\n", "one half", id="half a rename"),
        pytest.param(b"diff --git a/x b/y\nrename from x\ncopy to y\n", "one half", id="rename and copy"),
        pytest.param(b"diff --git a/x b/x\nold mode 100644\n", "one half", id="half a mode change"),
        pytest.param(
            b"diff --git a/x b/x\nnew file mode 100644\ndeleted file mode 100644\n", "both", id="created and deleted"
        ),
        pytest.param(
            b"diff --git a/x b/x\nnew file mode 100644\nold mode 100644\nnew mode 100755\n",
            "both",
            id="created and changed",
        ),
        pytest.param(b"diff --git a/x b/x\nindex 1111..2222\nindex 1111..2222\n", "twice", id="header line twice"),
        pytest.param(b"diff --git a/x b/x\nnew file mode 120000\n", "symbolic link", id="symlink created"),
        pytest.param(b"diff --git a/x b/x\nold mode 100644\nnew mode 120000\n", "symbolic link", id="symlink by mode"),
        pytest.param(
            b"diff --git a/x b/x\nindex 1111..2222 120000\n--- a/x\n+++ b/x\n" + HUNK,
            "symbolic link",
            id="symlink changed",
        ),
        pytest.param(b"diff --git a/x b/x\nnew file mode 160000\n", "submodule", id="submodule created"),
        pytest.param(
            b"diff --git a/x b/x\nindex 1111..2222 160000\n--- a/x\n+++ b/x\n" + HUNK,
            "submodule",
            id="submodule changed",
        ),
        pytest.param(b"diff --git a/x b/x\nnew file mode 100666\n", "not that of a file", id="odd mode"),
        pytest.param(b"diff --git a/x b/x\nnew file mode 104755\n", "not that of a file", id="setuid"),
        pytest.param(b"diff --git a/../x b/../x\n--- a/../x\n+++ b/../x\n" + HUNK, "'..'", id="climbing out"),
        pytest.param(b"diff --git /x /x\n--- /x\n+++ /x\n" + HUNK, "absolute", id="absolute"),
        pytest.param(b"diff --git a//x b//x\n--- a//x\n+++ b//x\n" + HUNK, "absolute", id="absolute after the prefix"),
        pytest.param(b"diff --git a/.git/config b/.git/config\nnew file mode 100644\n", "reaches into .git", id=".git"),
        pytest.param(
            b'diff --git "a/.g\\342\\200\\214it/x" "b/.g\\342\\200\\214it/x"\nnew file mode 100644\n',
            "reaches into .git",
            id="HFS .git",
        ),
        pytest.param(b'diff --git "a/x\\000" "b/x\\000"\nnew file mode 100644\n', "control", id="NUL"),
        pytest.param(b'diff --git "a/x\\\\y" "b/x\\\\y"\nnew file mode 100644\n', "backslash", id="backslash"),
        pytest.param(
            b"diff --git a/x b/../../y\nrename from x\nrename to ../../y\n", "'..'", id="rename out of the tree"
        ),
        pytest.param(
            b"diff --git a/.git/config b/y\ncopy from .git/config\ncopy to y\n",
            "reaches into .git",
            id="copy out of .git",
        ),
        pytest.param(b"--- a/../x\n+++ b/../x\n" + HUNK, "'..'", id="plain climbing out"),
        pytest.param(b"--- /etc/x\n+++ /etc/x\n" + HUNK, "absolute", id="plain absolute"),
        pytest.param(b"--- /a/x\n+++ /b/x\n" + HUNK, "do not mean one file", id="plain absolute, different"),
        pytest.param(b"--- ../x\n+++ new/x\n" + HUNK, "'..'", id="plain from above"),
        pytest.param(b"--- /x\n+++ new/x\n" + HUNK, "absolute", id="plain from the root"),
        pytest.param(b"--- a/x\n+++ b/y\n" + HUNK, "do not mean one file", id="plain two files"),
        pytest.param(b"--- /dev/null\n+++ /dev/null\n" + HUNK, "both sides", id="plain nothing to nothing"),
        pytest.param(b"--- /dev/null\n+++ b/x\n" + HUNK, "not there", id="plain content of nothing"),
        pytest.param(PLAIN + HUNK + b"Only in b: y\n", "diff -ruN", id="Only in"),
        pytest.param(b"Only in b: y\n", "diff -ruN", id="Only in alone"),
        pytest.param(
            PLAIN + HUNK + b"File a/z is a directory while file b/z is a regular file\n",
            "diff -ruN",
            id="folder or file",
        ),
        pytest.param(
            b"diff --git b/x b/x\nnew file mode 100644\n\0ndex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n",
            "no known kind",
            id="header torn in two",
        ),
        pytest.param(PLAIN + HUNK + b"Binary files a/z and b/z differ\n", "binary", id="plain binary"),
        pytest.param(
            b"diff --git a/z b/z\nindex 1111..2222 100644\nBinary files a/z and b/z differ\n",
            "--binary",
            id="binary without data",
        ),
    ],
)
def test_refused(data: bytes, reason: str) -> None:
    assert reason in refusal(data).reason


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PatchError, match="at most 10"):
        read_patch(GIT + HUNK, max_bytes=10)
    created = b"".join(b"diff --git a/%d b/%d\nnew file mode 100644\n" % (n, n) for n in range(parts.MAX_FILES + 1))
    assert "more than 10,000 files" in refusal(created).reason


@pytest.mark.long
def test_folders_are_counted(tmp_path: Path) -> None:
    """Each takes as much of a sandbox as a file: with few files, they could keep it from being set up."""
    tops = [f"{number}/" + "d/" * 60 for number in range(400)]
    created = "".join(f"diff --git a/{top}f b/{top}f\nnew file mode 100644\n" for top in tops)
    with pytest.raises(PatchError, match="more than 20,000 folders"):
        apply_patch(read_patch(created.encode()), tmp_path)
    hunks = b"".join(b"@@ -%d +%d @@\n-a\n+b\n" % (n, n) for n in range(1, parts.MAX_HUNKS + 2))
    assert "more than 100,000 hunks" in refusal(GIT + hunks).reason
    assert "belong to no file" in refusal(b"x\n" * 200_001).reason


def test_git_headers() -> None:
    patch = read_patch(
        b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"
        b"diff --git a/a b c b/d e\nsimilarity index 100%\nrename from a b c\nrename to d e\n"
        b'diff --git "a/\\303\\251" b/e\nsimilarity index 100%\ncopy from "\\303\\251"\ncopy to e\n'
        b"diff --git a/new b/new\nnew file mode 100755\nindex 0000000..e69de29\n"
        b"diff --git a/old b/old\ndeleted file mode 100644\nindex e69de29..0000000\n"
    )
    assert [(file.kind, file.old_path, file.new_path, file.new_mode) for file in patch.files] == [
        (ChangeKind.MODE, "x", "x", FileMode.EXECUTABLE),
        (ChangeKind.RENAME, "a b c", "d e", None),
        (ChangeKind.COPY, "é", "e", None),
        (ChangeKind.CREATE, None, "new", FileMode.EXECUTABLE),
        (ChangeKind.DELETE, "old", None, None),
    ]


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        (b"a/d/x", b"b/d/x", "d/x"),
        (b"d/x", b"d/x", "d/x"),
        (b"a/d/x", b"a/d/x", "a/d/x"),
        (b"i/d/x", b"w/d/x", "d/x"),
        (b"b/d/x", b"a/d/x", "d/x"),
    ],
)
def test_prefixes_of_git(old: bytes, new: bytes, path: str) -> None:
    (file,) = read_patch(b"diff --git %s %s\n--- %s\n+++ %s\n" % (old, new, old, new) + HUNK).files
    assert (file.old_path, file.new_path, file.kind) == (path, path, ChangeKind.MODIFY)


ADD = b"@@ -0,0 +1 @@\n+b\n"
REMOVE = b"@@ -1 +0,0 @@\n-a\n"
EPOCH = b"\t1970-01-01 00:00:00.000000000 +0000"
EPOCH_WEST = b"\t1969-12-31 19:00:00.000000000 -0500"
NOW = b"\t2024-05-06 07:08:09.123456789 +0200"


@pytest.mark.parametrize(
    ("old", "new", "hunk", "kind", "path"),
    [
        (b"a/d/x" + NOW, b"b/d/x" + NOW, HUNK, ChangeKind.MODIFY, "d/x"),
        (b"proj-1.0/d/x" + NOW, b"proj/d/x" + NOW, HUNK, ChangeKind.MODIFY, "d/x"),
        (b"d/x", b"d/x", HUNK, ChangeKind.MODIFY, "d/x"),
        (b"x.orig" + NOW, b"x" + NOW, HUNK, ChangeKind.MODIFY, "x"),
        (b"/dev/null", b"b/x", ADD, ChangeKind.CREATE, "x"),
        (b"/dev/null", b"d/x", ADD, ChangeKind.CREATE, "d/x"),
        (b"a/x", b"/dev/null", REMOVE, ChangeKind.DELETE, "x"),
        (b"old/x" + EPOCH, b"new/x" + NOW, ADD, ChangeKind.CREATE, "x"),
        (b"old/x" + EPOCH_WEST, b"new/x" + NOW, ADD, ChangeKind.CREATE, "x"),
        (b"old/x" + NOW, b"new/x" + EPOCH, REMOVE, ChangeKind.DELETE, "x"),
        (b"old/x" + EPOCH, b"new/x" + EPOCH, HUNK, ChangeKind.MODIFY, "x"),
        (b"old/x" + NOW, b"new/x" + NOW, ADD, ChangeKind.MODIFY, "x"),
        (b'"old/\\303\\251"' + NOW, b'"new/\\303\\251"' + NOW, HUNK, ChangeKind.MODIFY, "é"),
    ],
)
def test_plain_headers(old: bytes, new: bytes, hunk: bytes, kind: ChangeKind, path: str) -> None:
    (file,) = read_patch(b"diff -ruN x y\n--- " + old + b"\n+++ " + new + b"\n" + hunk).files
    assert (file.kind, file.path) == (kind, path)


def test_text_around_diffs_is_passed_over() -> None:
    mail = (
        b"From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\n"
        b"Subject: [PATCH] x\n\n- a list\n+ another\nrename from here to there\nOnly in dreams: this\n"
        b"---\n x | 2 +-\n\n"
    )
    patch = read_patch(mail + GIT + HUNK + b"-- \n2.39.5\n\n" + mail + GIT + HUNK + b"-- \n2.39.5\n\n")
    assert [file.series for file in patch.files] == [0, 1]
    assert len(read_patch(b"Here it is:\n\n" + GIT + HUNK + b"\nThat is all.\n").files) == 1


def test_a_missing_last_newline_of_the_patch_is_supplied() -> None:
    assert read_patch((GIT + HUNK)[:-1]) == read_patch(GIT + HUNK)


def test_bare_empty_lines_are_context() -> None:
    (file,) = read_patch(GIT + b"@@ -1,3 +1,3 @@\n\n-a\n+b\n\n\n\n").files
    assert (file.hunks[0].old, file.hunks[0].new) == (b"\na\n\n", b"\nb\n\n")


@pytest.mark.parametrize(
    "mark", ["\\ No newline at end of file", "\\ Kein Zeilenumbruch am Dateiende.", "\\ 文件尾没有换行符"]
)
def test_the_newline_mark_in_any_language(mark: str) -> None:
    (file,) = read_patch(GIT + b"@@ -1 +1 @@\n-a\n%s\n+b\n" % mark.encode()).files
    assert (file.hunks[0].old, file.hunks[0].new) == (b"a", b"b\n")
