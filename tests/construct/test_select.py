"""Which files of a change are its solution and which its tests."""

from __future__ import annotations

import pytest

from repoassay.construct.history import HistoryEntry
from repoassay.construct.select import is_test, nearby_tests, split_change
from repoassay.errors import BadInput


def tree(*paths: str, mode: str = "100644", size: int = 10, mark: str = "a") -> dict[str, HistoryEntry]:
    return {path: HistoryEntry(mode, f"{mark}{path}", size) for path in paths}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/test_a.py", True), ("a_test.py", True), ("app/tests.py", True), ("src/p/tests/test_x.py", True),
        ("tests/data.json", False), ("tests/conftest.py", False), ("test_a.txt", False), ("attest_a.py", False),
        ("testing.py", False), ("contest.py", False),
    ],
)  # fmt: skip
def test_names_of_tests(path: str, expected: bool) -> None:
    assert is_test(path) is expected


def test_code_tests_and_support_are_told_apart() -> None:
    base = tree("a.py", "tests/test_a.py", "same.py", "gone.py", "tests/test_gone.py")
    later = tree("a.py", "tests/test_a.py", "new.py", "tests/data/x.json", "tests/conftest.py", mark="b")
    split = split_change(base, {**later, "same.py": base["same.py"]})
    assert split.solution == ("a.py", "gone.py", "new.py")
    assert split.tests == ("tests/test_a.py",)
    assert split.support == ("tests/conftest.py", "tests/data/x.json")


def test_a_renamed_test_counts_by_its_new_name() -> None:
    split = split_change(tree("test_old.py"), tree("test_new.py"))
    assert (split.tests, split.solution) == (("test_new.py",), ())


def test_only_narrows_the_change() -> None:
    split = split_change({}, tree("a.py", "docs/b/c.md", "tests/test_a.py"), ("*.py",))
    assert (split.solution, split.tests) == (("a.py",), ("tests/test_a.py",))


def test_a_change_of_modes_alone_is_a_change() -> None:
    base = tree("run.sh")
    assert split_change(base, {"run.sh": HistoryEntry("100755", base["run.sh"].object, 10)}).solution == ("run.sh",)


@pytest.mark.parametrize("mode", ["120000", "160000"])
def test_links_and_submodules_are_refused_in_code_and_passed_over_in_tests(mode: str) -> None:
    with pytest.raises(BadInput, match="links or submodules"):
        split_change({}, tree("a", mode=mode))
    with pytest.raises(BadInput, match="links or submodules"):
        split_change(tree("a", mode=mode), {})
    assert split_change({}, {**tree("b.py"), **tree("tests/test_a.py", mode=mode)}).tests == ()


def test_links_beside_code_are_left_out_and_named() -> None:
    change = {**tree("a.py"), **tree("notes/2.md", mode="120000")}
    split = split_change({}, change)
    assert (split.solution, split.links) == (("a.py",), ("notes/2.md",))
    assert split_change(change, {}).links == ("notes/2.md",)
    assert split_change({**change}, {**change, **tree("a.py", mark="b")}).links == ()
    for other in (tree("notes/2.md"), tree("notes/2.md", mode="160000")):
        with pytest.raises(BadInput, match="links or submodules"):
            split_change(change, {**tree("a.py", mark="b"), **other})


@pytest.mark.parametrize(
    "path", ["../a.py", ".git/config", "a/../b.py", "a\x1b.py", "tests/\udcff.py", "GIT~1/x", "a\\b.py"]
)
def test_paths_that_lead_elsewhere_are_refused(path: str) -> None:
    with pytest.raises(BadInput, match="no task can carry"):
        split_change({}, tree(path))


def test_too_many_files_and_too_large_ones_are_refused() -> None:
    with pytest.raises(BadInput, match="touches 501 files"):
        split_change({}, tree(*(f"{n}.py" for n in range(501))))
    with pytest.raises(BadInput, match="touches 1 files"):
        split_change({}, tree("a.bin", size=2**30))


def test_what_lies_beside_tests_is_carried_but_not_other_tests_links_or_code() -> None:
    later = {
        **tree("tests/test_a.py", "tests/test_b.py", "tests/__init__.py", "tests/data/x.json", "testsuite/y.py"),
        **tree("a.py"), **tree("tests/link", mode="120000"), **tree("tests/../../x"),
    }  # fmt: skip
    assert nearby_tests(["tests/test_a.py"], later) == ("tests/__init__.py", "tests/data/x.json")
    assert nearby_tests(["tests/unit/test_a.py"], later) == ("tests/__init__.py", "tests/data/x.json")
    assert nearby_tests(["test_a.py"], later) == ()


def test_too_much_beside_tests_is_left() -> None:
    assert nearby_tests(["tests/test_a.py"], tree(*(f"tests/{n}.json" for n in range(2001)))) == ()
    assert nearby_tests(["tests/test_a.py"], tree("tests/large.bin", size=2**26)) == ()
