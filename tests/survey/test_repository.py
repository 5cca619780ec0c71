"""Counting folders, small and hostile."""

from __future__ import annotations

import os
from dataclasses import astuple
from pathlib import Path

import pytest

from repoassay.errors import BadInput
from repoassay.survey import DEFINITIONS, Measures, SurveyProblem, survey_repository
from repoassay.survey.source import MAX_BYTES


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def alone(tmp_path: Path, content: str | bytes) -> tuple[Measures, tuple[SurveyProblem, ...]]:
    found = survey_repository(write(tmp_path, {"a.py": content}))
    assert found.measures.files == 1
    return found.measures, found.problems


SMALL = '''"""A module."""

import os, sys.path
from . import other
from .other import (  # three names
    one,
    two as second, three,
)
from os import *


@decorator
@called()
class Outer(base(), key=call(1)(2)):
    # a comment
    class Inner:
        def method(self, x=f(g())) -> h():
            async def nested():
                return [y() for y in z() if w()]

    twice = lambda: v()


print(f"{inside():>{width()}} {{}}")
'''


def test_a_small_repository(tmp_path: Path) -> None:
    found = survey_repository(write(tmp_path, {"pkg/a.py": SMALL, "pkg/other.py": "", "README": "text\n"}))
    assert found.problems == ()
    assert found.measures == Measures(
        files=2,
        lines=24,
        code_lines=17,
        classes=2,
        functions=2,
        imports=7,
        internal_imports=1,
        # called base call(1) (2) f g h y z w v print inside width
        calls=14,
        tokens=found.measures.tokens,  # test_against_python.py
        model_tokens=None,
        python_bytes=len(SMALL),
        bytes=len(SMALL) + 5,
    )


def test_every_measure_is_defined_and_nothing_else() -> None:
    assert list(DEFINITIONS) == list(Measures.__dataclass_fields__)


def test_every_definition_stands_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/survey.md").read_text()
    for name, meaning in DEFINITIONS.items():
        assert f"| `{name}` | {meaning}" in page


def test_an_empty_folder_has_nothing(tmp_path: Path) -> None:
    found = survey_repository(tmp_path)
    assert set(astuple(found.measures)) == {0, None}
    assert found.problems == ()


def test_only_py_files_are_sources_and_git_and_caches_are_left_out(tmp_path: Path) -> None:
    names = (
        *("a.py", "deep/er/b.py", ".hidden/c.py", ".venv/lib/d.py", ".gitignore/l.py", "m.py/n.py"),
        *("e.PY", "f.pyi", "g.pyw", "h.ipynb", ".git/i.py", "sub/.git/j.py", "__pycache__/k.py"),
    )
    files: dict[str, str | bytes] = dict.fromkeys(names, "x = 1\n")
    measures = survey_repository(write(tmp_path, files)).measures
    assert measures.files == 6
    assert measures.python_bytes == 36
    assert measures.bytes == 60


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"secret.py": "x = 1\n"})
    inside = write(tmp_path / "inside", {"a.py": "x = 1\n"})
    (inside / "file.py").symlink_to(outside / "secret.py")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    (inside / "nowhere.py").symlink_to("nowhere")
    assert survey_repository(inside).measures.files == 1


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", {"a.py": "x = 1\n"})
    (tmp_path / "link").symlink_to("real")
    assert survey_repository(tmp_path / "link").measures.files == 1


def test_pipes_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert survey_repository(tmp_path).measures.files == 0


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("# coding: latin-1\nname = 'é'\n", "latin-1"),
        ("# -*- coding: cp1251 -*-\nимя = 1\n", "cp1251"),
        ("имя = 1\nx = 2\n", "utf-8-sig"),
        ("имя = 1\r\nx = 2\r\n", "utf-8"),
        ("имя = 1\rx = 2\r", "utf-8"),
        ("# vim: set fileencoding=shift_jis :\n名 = 1\nx = 2", "shift_jis"),
    ],
)
def test_encodings_and_line_ends(tmp_path: Path, data: str, encoding: str) -> None:
    measures, problems = alone(tmp_path, data.encode(encoding))
    assert problems == ()
    assert measures.tokens == 3 * measures.code_lines > 0


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe\x00x", "encoding"),
        (b"x = 1\ny = 2\nz = '\xff'\n", "not in its encoding"),
        (b"# coding: no-such\n", "unknown encoding"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "encoding problem"),
        (b"# coding: zip\n", "zip"),
        (b"# coding: rot13\n", "rot13"),
        (b"# coding: punycode\n" + b"a-" * 1000, "punycode"),
        (b"# coding: undefined\n", "undefined"),
        (b"#" * (MAX_BYTES + 1), "larger than"),
    ],
)
def test_what_cannot_be_read_is_skipped_with_a_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    measures, (problem,) = alone(tmp_path, data)
    assert (problem.path, problem.kind) == ("a.py", "skipped")
    assert reason in problem.reason
    assert measures.lines == measures.tokens == 0
    assert measures.python_bytes == len(data)


@pytest.mark.parametrize(
    "text",
    [
        "print 'two'\n", "def f(:\n", "x = 1\0\n", "\0", "if x:\npass", "'", '"""', "x = 1\n  y = 2\n", "$", "a = 0777",
        "(" * 10_000, "[" * 100 + "]", "-" * 100_000 + "1", "1" + "+1" * 100_000, "a" + ".b" * 100_000,
        "a" + "()" * 50_000,
        "not " * 50_000 + "1", "lambda:" * 50_000 + "1", "x if y else " * 50_000 + "x", "f'{" * 200,
        "if a: pass\n" + "elif a: pass\n" * 50_000, "".join(" " * depth + "if 1:\n" for depth in range(500)),
        "x = " + "1" * 5000, "# coding: unicode_escape\n\\ud800", "\\", "a\\", "\x1b[2J = 1",
    ],
)  # fmt: skip
def test_what_does_not_parse_is_listed_and_its_lines_counted(tmp_path: Path, text: str) -> None:
    measures, (problem,) = alone(tmp_path, text)
    assert (problem.path, problem.kind) == ("a.py", "unparsed")
    assert problem.reason.isprintable()
    assert measures.lines > 0
    assert measures.functions == measures.calls == 0


def test_a_tree_too_large_to_hold_is_not_built(tmp_path: Path) -> None:
    _, (problem,) = alone(tmp_path, "a," * 600_000)
    assert problem == SurveyProblem("a.py", "unparsed", "it has more than 1000000 tokens")


def test_one_bad_file_spoils_no_other(tmp_path: Path) -> None:
    found = survey_repository(write(tmp_path, {"a.py": "f()\n", "b.py": "(", "c.py": b"\xff", "d.py": "g()\n"}))
    assert found.measures.calls == 2
    assert found.measures.files == 4
    assert [problem.path for problem in found.problems] == ["b.py", "c.py"]


def test_code_that_warns_is_quiet(tmp_path: Path) -> None:
    _, problems = alone(tmp_path, "'\\d'\n1 is 1\nassert (1, 2)\n0x1for x in y\n")  # warnings are errors in tests
    assert problems == ()


def test_deep_folders_and_odd_names(tmp_path: Path) -> None:
    deep = tmp_path / "/".join(["d" * 100] * 30)
    deep.mkdir(parents=True)
    (deep / "a.py").write_text("x = 1\n")
    (tmp_path / os.fsdecode(b"\xff\n.py")).write_text("(")
    found = survey_repository(tmp_path)
    assert found.measures.files == 2
    assert len(found.problems) == 1


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.py": "f()\n"})
    monkeypatch.chdir(tmp_path)
    for _ in range(50):  # as deep as no path can name
        Path("d" * 100).mkdir()
        os.chdir("d" * 100)
    Path("b.py").touch()
    monkeypatch.undo()
    found = survey_repository(tmp_path)
    assert found.measures.files == 1
    (problem,) = found.problems
    assert problem.kind == "skipped"
    assert problem.reason == "it cannot be listed: File name too long"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none", "There is no folder"),
        ("x" * 5000, "There is no folder"),
        ("nul\0", "There is no folder"),
        ("file.tar.gz", "unpack a source distribution first"),
    ],
)
def test_what_is_no_folder_is_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "file.tar.gz").touch()
    with pytest.raises(BadInput, match=message):
        survey_repository(tmp_path / name)
