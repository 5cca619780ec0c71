"""Measures of a data set, held against counts made another way."""

from __future__ import annotations

import difflib
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from json_answers import data_of
from repoassay.benchmarks.resq import ModifiedFile, ResqRow
from repoassay.benchmarks.swebench import SweRow
from repoassay.cli.main import cli
from repoassay.cli.stats import stats
from repoassay.errors import BadInput, MissingExtra
from repoassay.formats import dataset_figures as room
from repoassay.formats.base_trees import BaseTrees
from repoassay.formats.dataset_figures import DEFINITIONS, TaskMeasures, count_tokens, dataset_stats, spread
from repoassay.formats.mirrors import read_mirrors
from repoassay.formats.rows import write_rows
from repoassay.sandbox.cache import Cache

COMMIT = "0123456789" * 4


def row(before: dict[str, str], after: dict[str, str], *, given_after: bool = False, **changes: Any) -> ResqRow:
    """A row whose patch is what difflib makes of two trees."""
    patch = ""
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        names = "/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}"
        for line in difflib.unified_diff(
            (old or "").splitlines(keepends=True), (new or "").splitlines(keepends=True), *names
        ):
            patch += line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
    files = after if given_after else before
    fields: dict[str, Any] = {
        "id": "0_0",
        "repo_url": "https://github.com/a/b",
        "instruction": "Do it.",
        "base_commit": COMMIT,
        "test_script": "assert True",
        "solution_patch": patch,
        "modified_files": tuple(ModifiedFile(path=path, content=text) for path, text in files.items()),
    }
    return ResqRow(**{**fields, **changes})


def measures(row: ResqRow | SweRow) -> TaskMeasures:
    return dataset_stats([row]).tasks[row.name]


def textbook_distance(first: str, second: str) -> int:
    line = list(range(len(second) + 1))
    for i, left in enumerate(first, 1):
        above, line[0] = line[0], i
        for j, right in enumerate(second, 1):
            above, line[j] = line[j], min(line[j] + 1, line[j - 1] + 1, above + (left != right))
    return line[-1]


LINES = st.lists(st.sampled_from(["a\n", "b\n", "cc\n", "\n", "-x\n", "+y\n", "é ü\n", "@@ -1 +1 @@\n"]), max_size=12)


@given(before=LINES, after=LINES, more=LINES, given_after=st.booleans(), end=st.sampled_from(["", "tail"]))
def test_counts_agree_with_difflib_and_the_textbook(
    before: list[str], after: list[str], more: list[str], given_after: bool, end: str
) -> None:
    old, new = "".join(before) + end, "".join(after)
    if old == new or not old or not new:
        return
    trees: tuple[dict[str, str], dict[str, str]] = {"x.py": old}, {"x.py": new, "made.py": "".join(["new\n", *more])}
    found = measures(row(*trees, given_after=given_after))
    delta = list(difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True)))[2:]
    assert found.modified_lines == sum(line[0] in "+-" for line in delta) + 1 + len(more)
    assert found.modified_files == 2
    assert found.levenshtein == textbook_distance(old, new) + len(trees[1]["made.py"])


def test_texts_before_and_after_give_the_same_distance() -> None:
    trees = {"x": "one\ntwo\nthree\n"}, {"x": "one\ntoo\nthree\n"}
    for given_after in (False, True):
        assert measures(row(*trees, given_after=given_after)).levenshtein == 1


def test_a_deleted_file_costs_its_text() -> None:
    found = measures(row({"x": "one\ntwo\n"}, {}))
    assert (found.levenshtein, found.modified_lines, found.modified_files) == (8, 2, 1)


def test_a_renamed_file_is_found_by_either_name() -> None:
    patch = (
        "diff --git a/old.py b/new.py\nsimilarity index 90%\nrename from old.py\nrename to new.py\n"
        "--- a/old.py\n+++ b/new.py\n@@ -1,2 +1,2 @@\n-one\n+two\n same\n"
    )
    for path, text in (("old.py", "one\nsame\n"), ("new.py", "two\nsame\n")):
        found = measures(row({path: text}, {path: text}, solution_patch=patch))
        assert (found.levenshtein, found.modified_files) == (3, 1)


@pytest.mark.parametrize(
    ("changes", "words", "lines"),
    [
        ({"modified_files": ()}, "'x': its text is not among modified_files.", 2),
        ({"modified_files": (ModifiedFile(path="x", content="other\n"),)}, "is not what the patch changes", 2),
        ({"solution_patch": "nonsense"}, "its solution patch cannot be read: There is no unified diff", None),
        ({"solution_patch": "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n"}, "cannot be read", None),
    ],
)
def test_what_cannot_be_measured_is_said(changes: dict[str, Any], words: str, lines: int | None) -> None:
    found = dataset_stats([row({"x": "a\n"}, {"x": "b\n"}, **changes)])
    assert found.tasks["0_0"].levenshtein is None
    assert found.tasks["0_0"].modified_lines == lines
    assert found.spreads["levenshtein"].n == 0
    ((name, reason),) = found.problems
    assert name == "0_0" and words in reason


def test_a_row_without_solution_has_an_instruction_alone() -> None:
    found = dataset_stats([row({}, {}, solution_patch="")])
    assert found.problems == ()
    assert found.spreads["instruction_tokens"].n == 1
    assert {name for name in DEFINITIONS if found.spreads[name].n} == {"instruction_tokens"}


def test_files_too_different_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_MAX_WORK", 99)
    found = dataset_stats([row({"x": "a" * 10 + "\n"}, {"x": "b" * 10 + "\n"})])
    assert "10 by 10 changed characters are too many to compare" in found.problems[0][1]


def test_without_rapidfuzz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(MissingExtra, match=r"pip install 'repoassay\[metrics\]'"):
        dataset_stats([row({"x": "a\n"}, {"x": "b\n"})])


def test_a_swe_row() -> None:
    found = measures(
        SweRow(
            instance_id="i", repo="a/b", base_commit=COMMIT, test_patch="", problem_statement="One, two.",
            fail_to_pass=("a::b",), patch=row({"x": "a\n"}, {"x": "b\n"}).solution_patch,
        )
    )  # fmt: skip
    assert (found.instruction_tokens, found.modified_lines, found.levenshtein) == (4, 2, None)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), (" \n", 0), ("a_b c", 2), ("f(x)=-1", 7), ("né, Ü!", 4), ("你好。", 2), ("a\u2028b", 2)],
)
def test_tokens(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=40))
def test_quartiles_are_those_of_the_standard_library(values: list[int]) -> None:
    found = spread(values)
    q1, median, q3 = statistics.quantiles(values, n=4, method="inclusive")
    assert (found.q1, found.median, found.q3) == pytest.approx((q1, median, q3), abs=1e-6)
    assert (found.n, found.min, found.max) == (len(values), min(values), max(values))
    assert found.mean == pytest.approx(statistics.fmean(values))


def test_one_value_and_none() -> None:
    one, none = spread([3]), spread([])
    assert (one.n, one.min, one.q1, one.median, one.q3, one.max, one.mean) == (1, 3, 3, 3, 3, 3, 3)
    assert (none.n, none.min, none.mean) == (0, None, None)


def tree(place: Path) -> Path:
    place.mkdir()
    (place / "a.py").write_text("# comment\n\nx = 1\n")
    (place / "b.py").write_text("y = 2\nz = 3\n")
    (place / "notes.txt").write_text("no code\n")
    return place


def test_a_mirror_of_plain_files(tmp_path: Path) -> None:
    given_ = row({"x": "a\n"}, {"x": "b\n"})
    trees = BaseTrees({"https://github.com/a/b": str(tree(tmp_path / "b"))})
    found = dataset_stats([given_], trees.find_or_say).tasks["0_0"]
    assert (found.repository_files, found.repository_code_lines) == (2, 3)


def test_a_mirror_with_a_history_is_taken_at_the_base_commit(tmp_path: Path) -> None:
    place = tree(tmp_path / "b")

    def git(*words: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        return subprocess.run(
            ["git", *identity, *words], cwd=place, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message=base")
    base = git("rev-parse", "HEAD")
    (place / "a.py").unlink()
    git("commit", "--quiet", "--all", "--message=later")
    trees = BaseTrees({"https://github.com/a/b": str(place)}, cache=Cache(tmp_path / "cache"))
    found = dataset_stats([row({"x": "a\n"}, {"x": "b\n"}, base_commit=base)], trees.find_or_say)
    assert found.problems == ()
    assert found.tasks["0_0"].repository_files == 2


def test_repositories_that_are_not_at_hand(tmp_path: Path) -> None:
    given_ = row({"x": "a\n"}, {"x": "b\n"})
    assert dataset_stats([given_], BaseTrees({}).find_or_say).spreads["repository_files"].n == 0
    trees = BaseTrees({"https://github.com/a/b": str(tmp_path / "absent")})
    found = dataset_stats([given_], trees.find_or_say)
    assert "its repository cannot be had: The mirror" in found.problems[0][1]
    assert found.spreads["levenshtein"].n == 1


def test_mirrors_as_options() -> None:
    assert read_mirrors(("https://a/b=/c", "pypi:x==1?sha256=ab=./d")) == {
        "https://a/b": "/c",
        "pypi:x==1?sha256=ab": "./d",
    }
    for wrong in (("x",), ("=x",), ("x=",), ("a=b", "a=c")):
        with pytest.raises(BadInput):
            read_mirrors(wrong)


def said(*words: object) -> str:
    result = CliRunner().invoke(cli, ["stats", "dataset", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_the_command(tmp_path: Path) -> None:
    write_rows([row({"x": "a\n"}, {"x": "b\n"})], tmp_path / "rows.jsonl")
    place = tree(tmp_path / "b")
    lines = dict(line.split("\t", 1) for line in said(tmp_path / "rows.jsonl").splitlines())
    assert list(lines) == ["measure", *DEFINITIONS, "tokeniser", "quartiles"]
    assert lines["levenshtein"] == "1\t1\t1\t1\t1\t1\t1"
    assert lines["repository_files"] == "0\t\t\t\t\t\t"
    facts = data_of(said(tmp_path / "rows.jsonl", "--json", "--mirror", f"https://github.com/a/b={place}"))
    assert facts["rows"] == 1
    assert facts["measures"]["repository_code_lines"]["median"] == 3
    assert facts["tasks"]["0_0"]["modified_files"] == 1
    assert facts["problems"] == []


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text("[{}]")
    result = CliRunner().invoke(stats, ["dataset", str(tmp_path / "rows.json")])
    assert isinstance(result.exception, BadInput)
    write_rows([row({"x": "a\n"}, {"x": "b\n"}, modified_files=())], tmp_path / "rows.json")
    result = CliRunner().invoke(stats, ["dataset", str(tmp_path / "rows.json")])
    assert "0_0: no Levenshtein distance: 'x': its text is not among modified_files." in result.stderr
