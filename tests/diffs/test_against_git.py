"""What Git and GNU diff write is read and applied to exactly the tree they were made from; the property tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.types.files import FileEdit

Tree = dict[str, FileEdit]

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}
# Some diff in ten thousand is read otherwise by Git, by its own carelessness: that is looked for by night.
QUIET = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    derandomize="REPOASSAY_EXPLORE" not in os.environ,
)  # fmt: skip

FLAGS = (
    (), ("-U0",), ("-U1",), ("-U10",), ("-M",), ("-M10%", "-U0"), ("-C", "--find-copies-harder"), ("-B", "-M"),
    ("--no-prefix",), ("--no-prefix", "-M10%"), ("--patience",), ("--histogram", "-W"), ("--minimal",),
    ("--full-index",),     ("--src-prefix=i/", "--dst-prefix=w/"),
)  # fmt: skip


def run(*argv: str, cwd: Path, stdin: bytes = b"", ok: tuple[int, ...] = (0,)) -> bytes:
    done = subprocess.run(argv, cwd=cwd, env=ENV, input=stdin, capture_output=True, check=False)
    assert done.returncode in ok, done.stderr
    return done.stdout


def plant(folder: Path, tree: Mapping[str, FileEdit]) -> None:
    for path, file in tree.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content)
        place.chmod(0o755 if file.executable else 0o644)


def harvest(folder: Path) -> Tree:
    return {
        str(place.relative_to(folder)): FileEdit(place.read_bytes(), bool(place.stat().st_mode & 0o100))
        for place in folder.rglob("*")
        if place.is_file()
    }


def edited(base: Tree, edits: Mapping[str, FileEdit | None]) -> Tree:
    result: dict[str, FileEdit | None] = {**base, **edits}
    return {path: file for path, file in result.items() if file is not None}


def ours(base: Tree, data: bytes) -> Tree:
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), base)
        changes = apply_patch(read_patch(data), Path(folder))
        assert harvest(Path(folder)) == base
        for path, edit in changes.edits.items():  # in their order, each with what is in its way gone
            place = Path(folder, path)
            if path in changes.folders:
                place.rmdir()
            elif edit is None:
                place.unlink()
            if edit is not None:
                plant(Path(folder), {path: edit})
        assert all(any(place.iterdir()) for place in Path(folder).rglob("*") if place.is_dir())
        assert harvest(Path(folder)) == edited(base, changes.edits)
    return edited(base, changes.edits)


def quoted(path: str) -> bytes:
    return b'"' + b"".join(b"\\%03o" % byte for byte in path.encode()) + b'"'


def import_trees(repository: Path, trees: list[Tree]) -> None:
    stream = [b"reset refs/heads/main\n"]
    for number, tree in enumerate(trees):
        stream.append(b"commit refs/heads/main\ncommitter a <a@example.org> %d +0000\n" % (10**9 + number))
        stream.append(b"data 8\nsubject\n\ndeleteall\n")
        for path, file in tree.items():
            mode = b"100755" if file.executable else b"100644"
            stream.append(b"M %s inline %s\ndata %d\n%s\n" % (mode, quoted(path), len(file.content), file.content))
    run("git", "fast-import", "--quiet", "--force", cwd=repository, stdin=b"".join(stream))


@pytest.fixture(scope="module")
def repository() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        run("git", "init", "-q", cwd=Path(folder))
        yield Path(folder)


LINES = st.sampled_from(
    [
        b"", b"a", b"b", b"}", b"-- ", b"-- x", b"++ y", b"\tif x:", b"\\ No", b"caf\xc3\xa9", b"\xe9", b"@@ -1 +1 @@",
        b"diff --git a/x b/x", b"crlf\r", b"From 0123456789012345678901234567890123456789 Mon",
    ]
)  # fmt: skip


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([b"\0", b"\0\1" * 700, b"", os.fsencode("x" * 900) + b"\0"]))
    lines = draw(st.lists(LINES, max_size=25))
    text = b"".join(line + b"\n" for line in lines)
    return text[:-1] if draw(st.integers(0, 4)) == 0 and not text.endswith((b"\n\n", b"\r\n")) else text


FILES = st.builds(FileEdit, contents(), st.booleans())
NAMES = ("x", "y.py", "a b", "é ü.txt", 'q"q', "d/x", "d/e/f g", "a/x", "b/x", "d/ tail ", "'", "日本", "-- x", "i/w",
         "d", "d/e", "a", "y.py/x")  # fmt: skip
PATHS = st.sampled_from(NAMES)


def put(tree: Tree, path: str, file: FileEdit) -> None:
    """Write a file in the place of whatever is in its way."""
    for other in [each for each in tree if each.startswith(f"{path}/") or path.startswith(f"{each}/")]:
        del tree[other]
    tree[path] = file


@st.composite
def planted(draw: st.DrawFn) -> Tree:
    tree: Tree = {}
    for path, file in draw(st.dictionaries(PATHS, FILES, max_size=6)).items():
        put(tree, path, file)
    return tree


TREES = planted()


@st.composite
def changed(draw: st.DrawFn, base: Tree) -> Tree:
    tree = dict(base)
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["edit", "edit", "edit", "new", "delete", "rename", "copy", "mode"]))
        path = draw(st.sampled_from(sorted(tree))) if tree else None
        if kind == "new" or path is None:
            put(tree, draw(PATHS), draw(FILES))
        elif kind == "delete":
            del tree[path]
        elif kind == "rename":
            file = tree.pop(path)
            put(tree, draw(PATHS), file)
        elif kind == "copy":
            put(tree, draw(PATHS), tree[path])
        elif kind == "mode":
            tree[path] = FileEdit(tree[path].content, not tree[path].executable)
        else:
            lines = tree[path].content.splitlines(keepends=True)
            at = draw(st.integers(0, len(lines)))
            lines[at : at + draw(st.integers(0, 3))] = [line + b"\n" for line in draw(st.lists(LINES, max_size=3))]
            tree[path] = FileEdit(b"".join(lines), tree[path].executable)
    return tree


@st.composite
def histories(draw: st.DrawFn, steps: int = 1) -> list[Tree]:
    trees = [draw(TREES)]
    for _ in range(steps):
        trees.append(draw(changed(trees[-1])))
    return trees


@QUIET
@given(trees=histories(), flags=st.sampled_from(FLAGS), quote=st.booleans())
@pytest.mark.long
def test_git_diff_gives_the_tree_it_was_made_of(
    repository: Path, trees: list[Tree], flags: tuple[str, ...], quote: bool
) -> None:
    base, goal = trees
    assume(base != goal)
    import_trees(repository, trees)
    diff = run(
        "git", "-c", f"core.quotePath={str(quote).lower()}", "diff", "--binary", *flags, "main~", "main", cwd=repository
    )
    assert ours(base, diff) == goal
    # The patch's own last newline is not needed.
    if b"GIT binary" not in diff and not diff.endswith(b"\n\n"):
        assert ours(base, diff[:-1]) == goal


@QUIET
@given(trees=histories(steps=3), flags=st.sampled_from([(), ("-M",), ("-U1", "--no-stat"), ("--no-renames",)]))
@pytest.mark.long
def test_a_mailbox_of_commits_is_applied_in_sequence(
    repository: Path, trees: list[Tree], flags: tuple[str, ...]
) -> None:
    assume(trees[0] != trees[-1])
    import_trees(repository, trees)
    mails = run("git", "format-patch", "--stdout", "--binary", *flags, "main~3..main", cwd=repository)
    assert ours(trees[0], mails) == trees[-1]


@QUIET
@given(trees=histories())
@pytest.mark.long
def test_recursive_plain_diff_gives_the_tree_it_was_made_of(trees: list[Tree]) -> None:
    # A plain diff knows neither modes nor binary content, nor a folder in the place of a file, and says nothing of
    # empty files that come or go.
    assume(
        not any(inner.startswith(f"{path}/") for path in {**trees[0], **trees[1]} for inner in (*trees[0], *trees[1]))
    )
    base, goal = ({path: FileEdit(file.content) for path, file in tree.items()} for tree in trees)
    assume(
        base != goal
        and all(file.content and b"\0" not in file.content for tree in (base, goal) for file in tree.values())
    )
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder, "old tree"), base)
        plant(Path(folder, "new"), goal)
        Path(folder, "old tree").mkdir(exist_ok=True)
        Path(folder, "new").mkdir(exist_ok=True)
        diff = run("diff", "-ruN", "--text", "old tree", "new", cwd=Path(folder), ok=(1,))
    assert ours(base, diff) == goal


# --- hostile changes to valid diffs -------------------------------------------------------------------------------


@st.composite
def mutated(draw: st.DrawFn, diff: bytes) -> bytes:
    for _ in range(draw(st.integers(1, 3))):
        lines = diff.splitlines(keepends=True) or [b"\n"]
        at = draw(st.integers(0, len(lines) - 1))
        to = draw(st.integers(0, len(lines) - 1))
        kind = draw(
            st.sampled_from(["byte", "drop", "double", "swap", "number", "cut", "twice", "crlf", "hunk", "splice"])
        )
        if kind == "byte":
            place = draw(st.integers(0, len(diff) - 1)) if diff else 0
            diff = diff[:place] + draw(st.binary(min_size=1, max_size=1)) + diff[place + 1 :]
            continue
        if kind == "number":
            numbers = list(re.finditer(rb"\d+", diff))
            if numbers:
                spot = draw(st.sampled_from(numbers))
                value = b"%d" % max(0, int(spot[0][:9]) + draw(st.sampled_from([-2, -1, 1, 2, 10**8])))
                diff = diff[: spot.start()] + value + diff[spot.end() :]
            continue
        if kind == "drop":
            del lines[at]
        elif kind == "double":
            lines.insert(at, lines[to])
        elif kind == "swap":
            lines[at], lines[to] = lines[to], lines[at]
        elif kind == "cut":
            del lines[at:]
        elif kind == "twice":
            lines += lines
        elif kind == "crlf":
            lines = [line.replace(b"\n", b"\r\n") for line in lines]
        elif kind == "hunk":
            heads = [number for number, line in enumerate(lines) if line.startswith(b"@@")]
            if heads:
                start = draw(st.sampled_from(heads))
                end = next((number for number in heads if number > start), len(lines))
                lines[end:end] = lines[start:end]
        else:
            word = [
                b"/dev/null",
                b"../x",
                b"/x",
                b"a/.git/x",
                b"120000",
                b"new file mode 100644\n",
                b"\\ No newline at end of file\n",
            ]
            lines[at] = draw(st.sampled_from([lines[at][:6] + draw(st.sampled_from(word)), *word]))
        diff = b"".join(lines)
    return diff


def theirs(base: Tree, data: bytes, *flags: str) -> Tree | None:
    """What `git apply` makes of it; None when it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), base)
        argv = ("git", "apply", "--whitespace=nowarn", *flags)
        done = subprocess.run(argv, cwd=folder, env=ENV, input=data, capture_output=True, check=False)
        return harvest(Path(folder)) if done.returncode == 0 else None


@settings(QUIET, max_examples=200)
@given(data=st.data(), trees=histories(), flags=st.sampled_from([(), ("-U0",), ("-U1",), ("-M",), ("--no-prefix",)]))
@pytest.mark.long
def test_a_mutated_diff_is_refused_or_means_what_git_takes_it_for(
    repository: Path, data: st.DataObject, trees: list[Tree], flags: tuple[str, ...]
) -> None:
    base, goal = trees
    assume(base != goal)
    import_trees(repository, trees)
    diff = data.draw(mutated(run("git", "diff", "--binary", *flags, "main~", "main", cwd=repository)))
    try:
        result = ours(base, diff)
    except PatchError as error:
        sentence(error)
        return
    for path in result.keys() - base.keys():
        parts = path.split("/")
        assert not path.startswith("/") and ".." not in parts and ".git" not in parts and "\\" not in path
    strip = "-p0" if "--no-prefix" in flags else "-p1"
    for more in ((), ("--unidiff-zero",)):
        git = theirs(base, diff, strip, *more)
        if git is not None and not git_is_careless(diff, zero=bool(more)):
            assert result == git


def sentence(error: PatchError) -> None:
    assert str(error).endswith(".") and str(error).isprintable()


def git_is_careless(diff: bytes, *, zero: bool) -> bool:
    """Whether Git may take a hunk for something that it does not say.

    Without --unidiff-zero it moves hunks that end without context to the end of the file, whatever their line numbers
    say; it lets a last line without a newline match a line that has one; of a binary patch whose lines end in CR LF it
    applies the file's new name and drops the content; and one without the empty line at its end it leaves out, with all
    that follows, and applies what came before.
    """
    if b"GIT binary patch\r" in diff or (b"GIT binary patch" in diff and not diff.endswith(b"\n\n")):
        return True
    hunks = [hunk for file in read_patch(diff).files for hunk in file.hunks]
    ended = all(not side or side.endswith(b"\n") for hunk in hunks for side in (hunk.old, hunk.new))
    return not ended or not (zero or all(hunk.trailing and hunk.leading for hunk in hunks))


PIECES = st.sampled_from(
    [
        b"diff --git a/x b/x", b"--- a/x", b"+++ b/x", b"@@ -1 +1 @@", b"-a", b"+b", b" a", b"new file mode 100644",
        b"GIT binary patch", b"literal 1", b"rename from x", b"rename to y", b"index 0000..1111",
        b"deleted file mode 100644",
    ]
)  # fmt: skip


@QUIET
@given(data=st.binary(max_size=300) | st.lists(LINES | PIECES, max_size=12).map(b"\n".join))
def test_any_bytes_are_a_patch_or_a_patch_error(data: bytes) -> None:
    try:
        ours({"x": FileEdit(b"a\n")}, data)
    except PatchError as error:
        sentence(error)


def test_the_tools_are_there() -> None:
    assert shutil.which("git") and shutil.which("diff")
