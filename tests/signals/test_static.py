"""Signals that only read: each with what it must find and a twin it must leave alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from repoassay.signals import Signal, SignalEvidence, ToolRunner
from repoassay.signals.change import Change
from repoassay.signals.dead_code import dead_code
from repoassay.signals.debugging import debugging
from repoassay.signals.diffs import read_diff
from repoassay.signals.docstrings import docstrings
from repoassay.signals.documents import changelog, guides
from repoassay.signals.duplication import duplication
from repoassay.signals.relaxed_config import relaxed_settings
from repoassay.signals.size import size
from repoassay.signals.stray_files import artefacts
from repoassay.signals.suppressions import suppressions
from repoassay.signals.vacuous_tests import tests_added as added_tests, vacuous_tests, weakened_tests
from repoassay.signals.worktrees import Tree, is_document, is_source
from repoassay.survey import is_test, is_test_support
from signals import projects

Kind = Callable[[Change, ToolRunner], list[Signal]]
Files = Mapping[str, str]
Look = Callable[..., list[SignalEvidence]]


@pytest.fixture
def look(tmp_path: Path, bench: ToolRunner) -> Look:
    """Evidence of a kind on a change from `base` to `head`, with `reference` as the head of the reference."""

    def run(kind: Kind, base: Files, head: Files, reference: Files | None = None) -> list[SignalEvidence]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        before = Tree(projects.write(base, folder / "base"))
        after = Tree(projects.write(head, folder / "head"))
        theirs = read_diff(projects.diff(base, reference)) if reference is not None else None
        change = Change(before, after, read_diff(projects.diff(base, head)), theirs)
        return [each for signal in kind(change, bench) for each in signal.evidence]

    return run


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("pass", "is empty"),
        ('"""It works."""', "is empty"),
        ("...", "is empty"),
        ("add(1, 2)", "asserts nothing"),
        ("assert True", "always holds"),
        ("assert 1 == 1", "always holds"),
        ("x = add(1, 2)\n    assert x == x", "always holds"),
        ("assert (add(1, 2), 'three')", "always holds"),
        ("assert add(1, 2) == 4 or True", "always holds"),
        ("self.assertTrue(True)", "always holds"),
        ("self.assertEqual(3, 3)", "always holds"),
        ("pytest.skip()\n    assert add(1, 2) == 3", "skips itself"),
        ("return\n    assert add(1, 2) == 3", "returns at once"),
    ],
)
def test_tests_that_cannot_fail(look: Look, body: str, said: str) -> None:
    (found,) = look(vacuous_tests, {}, {"test_a.py": f"def test_a(self):\n    {body}\n"})
    assert said in found.text and found.path == "test_a.py"


@pytest.mark.parametrize(
    "body",
    [
        "assert add(1, 2) == 3", "with pytest.raises(ValueError):\n        add()", "self.assertEqual(add(1, 2), 3)",
        "check_sum(add(1, 2))", "np.testing.assert_allclose(add(1, 2), 3)", "mock.assert_called_once()",
        "assert next(it) == next(it)", "assert add(1, 2)\n    assert True",
    ],
)  # fmt: skip
def test_tests_that_can_fail(look: Look, body: str) -> None:
    assert look(vacuous_tests, {}, {"test_a.py": f"def test_a(self):\n    {body}\n"}) == []


@pytest.mark.parametrize(
    "line", ["it.skip('x', () => {", "expect(true).toBe(true);", "assert.equal(a, a);", "xit('x')"]
)
def test_javascript_tests_that_cannot_fail(look: Look, line: str) -> None:
    assert [each.line for each in look(vacuous_tests, {}, {"a.test.js": f"// x\n{line}\n"})] == [2]
    assert look(vacuous_tests, {}, {"a.test.js": "expect(add(1, 2)).toBe(3);\nassert.equal(a, b);\n"}) == []


def test_removed_and_weakened_tests(look: Look) -> None:
    old = {"test_a.py": "def test_a():\n    assert f(1)\n    assert f(2)\n\n\ndef test_b():\n    assert f(3)\n"}
    (fewer, gone) = look(weakened_tests, old, {"test_a.py": "def test_a():\n    assert f(1)\n"})
    assert "1 assertions fewer" in fewer.text and fewer.line == 1
    assert "test_b was removed" in gone.text and (gone.side, gone.line, gone.anchor) == ("old", 6, "test_a.py#O6")
    moved = {"test_c.py": old["test_a.py"]}
    assert look(weakened_tests, old, moved) == []
    assert look(weakened_tests, old, {"test_a.py": "x = 1\n"}, {"test_a.py": "x = 2\n"}) == []


def test_no_tests_are_missed_only_where_the_reference_has_some(look: Look) -> None:
    base, head = {"a.py": "x = 1\n"}, {"a.py": "x = 2\n"}
    assert [each.path for each in look(added_tests, base, head)] == ["a.py"]
    assert look(added_tests, base, head, head | {"test_a.py": "x"})
    assert look(added_tests, base, head, head) == []
    assert look(added_tests, base, base | {"README.md": "x\n"}) == []
    assert look(added_tests, {"a.js": ""}, {"a.js": "x\n", "test/parse.js": "y\n"}) == []


@pytest.mark.parametrize(
    ("path", "line", "found"),
    [
        ("a.py", "x = 1  # noqa", True), ("a.py", "x = 1  # type: ignore[misc]", True), ("a.py", "x = '# noqa'", False),
        ("a.py", "x = 1  # pragma: no cover", True), ("a.py", "x = 1  # not quite a noqa", False),
        ("a.js", "let x; // eslint-disable-line", True), ("a.ts", "// @ts-ignore", True),
        ("a.ts", "f('@ts-ignore')", False),
        ("a.md", "# noqa", False),
    ],
)  # fmt: skip
def test_suppressions(look: Look, path: str, line: str, found: bool) -> None:
    assert bool(look(suppressions, {path: "\n"}, {path: f"\n{line}\n"})) == found
    assert look(suppressions, {path: f"{line}\n"}, {path: f"y\n\n  {line}\n"}) == [], "it only moved"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('lint.select = ["E", "F"]', 'lint.select = ["E"]', True),
        ('lint.select = ["E"]', 'lint.select = ["E", "F"]', False),
        ('lint.ignore = ["E501"]', "", False),
        ("", 'lint.ignore = ["E501"]', True),
        ("", 'exclude = ["a"]', True),
        ("line-length = 80", "line-length = 200", True),
        ("", 'lint.per-file-ignores."a.py" = ["F"]', True),
    ],
)
def test_loosened_configuration(look: Look, old: str, new: str, found: bool) -> None:
    base, head = ({"pyproject.toml": f'[project]\nname = "a"\n[tool.ruff]\n{each}\n'} for each in (old, new))
    assert bool(look(relaxed_settings, base, head)) == found


def test_other_settings_and_strictness_are_not_loosened(look: Look) -> None:
    base = {"pyproject.toml": "[project]\nversion = '1'\n[tool.mypy]\nstrict = false\n"}
    assert (
        look(relaxed_settings, base, {"pyproject.toml": "[project]\nversion = '2'\n[tool.mypy]\nstrict = true\n"}) == []
    )
    assert look(
        relaxed_settings, base, {"pyproject.toml": "[project]\nversion = '1'\n[tool.mypy]\nignore_errors = true\n"}
    )
    assert look(relaxed_settings, base, {"pyproject.toml": "[project\n"})
    assert look(relaxed_settings, base, {})


def test_debug_prints(look: Look) -> None:
    said = "def f():\n    print(1)\n"
    assert [each.line for each in look(debugging, {}, {"a.py": said})] == [2]
    assert look(debugging, {"a.py": "print(0)\n"}, {"a.py": f"print(0)\n{said}"}) == [], "the file prints"
    assert look(debugging, {}, {"pkg/cli.py": said, "tests/test_a.py": said, "b.py": "x = 'print(1)'\n"}) == []
    assert look(debugging, {}, {"a.py": "def f(stream):\n    print(1, file=stream)\n"}) == []
    assert look(debugging, {"a.py": "print(0)\n"}, {"a.py": "print(0)\nimport pdb; pdb.set_trace()\n"})
    assert [each.line for each in look(debugging, {}, {"a.js": "// console.log(1)\nconsole.log(2)\n"})] == [2]


def test_stray_files(look: Look) -> None:
    names = (
        "x.log",
        "a.py.orig",
        "core",
        "debug_it.py",
        "test_fix.py",
        "FIX_SUMMARY.md",
        "pkg/__pycache__/a.pyc",
        "nohup.out",
    )
    assert {each.path for each in look(artefacts, {}, dict.fromkeys(names, "x\n"))} == set(names)
    good = (
        "pkg/debug.py",
        "docs/summary.md",
        "tests/test_fix_it.py",
        "CHANGES.md",
        "README.md",
        "pkg/data.json",
        ".gitignore",
    )
    assert look(artefacts, {}, dict.fromkeys(good, "x\n")) == []
    assert look(artefacts, {"x.log": "a\n"}, {"x.log": "b\n"}) == [], "it was there"
    assert look(artefacts, {}, {"x.log": "a\n"}, {"x.log": "a\n"}) == [], "the reference adds it"
    assert look(artefacts, {}, {"pkg/data.json": "x" * 600_000})


def test_dead_code(look: Look) -> None:
    assert [each.line for each in look(dead_code, {}, {"a.py": "def f():\n    raise E\n    x()\n"})] == [3]
    assert [each.line for each in look(dead_code, {}, {"a.py": "def _f():\n    pass\n"})] == [1]
    used = {"a.py": "def _f():\n    pass\n", "b.py": "from a import _f\n"}
    assert look(dead_code, {}, used) == []


COPY = """\
def first(values):
    total = 0
    for value in values:
        if value > 10:
            total += value * 2
        elif value < 0:
            total -= value
        else:
            total += 1
    return [total, len(values), max(values)]
"""


def test_duplication(look: Look) -> None:
    (found,) = look(duplication, {"a.py": COPY}, {"a.py": COPY, "b.py": f"x = 1\n{COPY}"})
    assert (found.path, found.line) == ("b.py", 2) and "a.py from line 1" in found.text
    assert look(duplication, {"a.py": COPY}, {"b.py": COPY}) == [], "moved, not copied"
    assert look(duplication, {"a.py": COPY}, {"a.py": COPY, "tests/test_b.py": COPY}) == []
    (inside,) = look(duplication, {}, {"a.py": f"{COPY}\n\n{COPY}"})
    assert inside.line == 13
    imports = "from a import (" + ", ".join(f"n{each}" for each in range(60)) + ")\n"
    assert look(duplication, {"a.py": imports}, {"a.py": imports, "b.py": imports * 5}) == []


def test_docstrings_only_where_the_project_keeps_them(look: Look) -> None:
    kept = {"a.py": "".join(f'def f{each}():\n    """Do."""\n' for each in range(4))}
    bare = {"a.py": "".join(f"def f{each}():\n    pass\n" for each in range(4))}
    new = "def g(a):\n    return a\n"
    assert [each.line for each in look(docstrings, kept, {"a.py": kept["a.py"] + new})] == [9]
    for quiet in (new.replace("g", "_g"), "class _A:\n    def g(self):\n        pass\n"):
        assert look(docstrings, kept, {"a.py": kept["a.py"] + quiet}) == []
    assert look(docstrings, bare, {"a.py": bare["a.py"] + new}) == []
    assert look(docstrings, kept, kept | {"_private.py": new, "tests/test_a.py": new}) == []


def test_guides_and_changelog_follow_the_reference(look: Look) -> None:
    base, head = projects.base_files(), projects.undocumented()
    assert look(guides, base, head) and look(changelog, base, head)
    assert look(guides, base, head, head) == [] == look(changelog, base, head, head)
    del base["CHANGELOG.md"], head["CHANGELOG.md"]
    fragments = {"changelog.d/1.added.md": "- x\n"}
    assert look(changelog, base | fragments, head | fragments)
    assert look(changelog, base | fragments, head | fragments | {"changelog.d/2.added.md": "- y\n"}) == []


def test_size_counts_program_lines_only(look: Look) -> None:
    base, small = {"a.py": "x = 0\n"}, {"a.py": "x = 1\n"}
    many = "x = 1\n" * 500
    assert look(size, base, small | {"tests/test_a.py": many, "docs/a.md": many}, small) == []
    assert {each.path for each in look(size, base, {"a.py": many}, small)} == {"a.py"}


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        ("pkg/a.py", "source"), ("tests/test_a.py", "test support"), ("tests/data.json", "support"),
        ("pkg/conftest.py", "support"), ("a_test.py", "test support"), ("src/a.spec.ts", "test support"),
        ("docs/a.md", "document"), ("README.rst", "document"), ("LICENSE", "document"),
        ("pkg/testing_tools.py", "source"), ("pkg/contest.py", "source"), ("pkg/latest.py", "source"),
    ],
)  # fmt: skip
def test_what_files_are(path: str, kinds: str) -> None:
    told = {
        "source": is_source(path),
        "test": is_test(path),
        "support": is_test_support(path),
        "document": is_document(path),
    }
    assert {name for name, holds in told.items() if holds} == set(kinds.split())
