"""A changed module that is compiled in pieces is what it is as a whole, or is compiled as a whole."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from repoassay.grading.hidden_tests import held_code, pieced_code

PATH = "/workspace/repo/thing.py"
TEXT = '''"""What this module is."""
from __future__ import annotations

import os, sys; import json
__all__ = ["first", "second", "Third", "fourth", "and so many names that it is a long statement"]
number: int = 12_345_678

def first(a: int, b=(1, 2)) -> str:
    """What it does, over
    two lines."""
    return f"{a} {b} {[each for each in range(a)]}"

"""A text that documents nothing, and is long enough to be a piece of its own, were it one at all."""

if sys.platform:
    chosen = "one, and a long text that makes a piece of this statement, which has no other branch"

@(lambda function: function)
def second(*args, **options):
    def inner():
        return args, options, (1, 2)
    return inner()


class Third(dict):
    """A class."""
    field: int = 3

    def method(self):
        raise ValueError(sys._getframe().f_lineno)

def fourth():
    return "the last of them, with a text that is long enough for a piece of its own"
'''


def held(text: str = TEXT) -> pieced_code._Module:
    """The module as it is held."""
    return pieced_code._Module(PATH, text.encode(), b"", compile(text, PATH, "exec", dont_inherit=True).co_flags)


def facts(code: types.CodeType) -> tuple[object, ...]:
    """All of some code that could be told apart, but for what no function ever sees of the module around it."""
    inner = [facts(each) if isinstance(each, types.CodeType) else repr(each) for each in code.co_consts]
    names = (code.co_name, code.co_qualname, code.co_names, code.co_varnames, code.co_freevars, code.co_filename)
    return (*names, code.co_code, code.co_flags, code.co_firstlineno, tuple(code.co_positions()),
            code.co_exceptiontable, *inner)  # fmt: skip


def inner_code(*codes: types.CodeType | None) -> Iterator[types.CodeType]:
    """Functions, classes and comprehensions at the top of a module."""
    for code in codes:
        yield from (each for each in (code.co_consts if code else ()) if isinstance(each, types.CodeType))


def same(changed: str, pieces: list[types.CodeType | None]) -> None:
    """Fail where functions and classes of pieces and of the whole differ."""
    whole = compile(changed, PATH, "exec", dont_inherit=True)
    assert [facts(code) for code in inner_code(*pieces)] == [facts(code) for code in inner_code(whole)]


def ran(*codes: types.CodeType | None) -> dict[str, str]:
    """What a module holds once it has run."""
    space: dict[str, object] = {"__name__": "thing", "__file__": PATH}
    for code in codes:
        if code is not None:
            exec(code, space)
    return {name: str(value).partition(" at 0x")[0] for name, value in space.items() if name != "__builtins__"}


EDITS = {
    "a function changed": ("    return args", "    return options, args"),
    "lines before": ("\nimport os", "\nimport math\n\n\n\nimport os"),
    "lines after": ("a piece of its own\"\n", "a piece of its own\"\n\nfifth = 5\n"),
    "one gone": ("number: int = 12_345_678\n", ""),
    "two places": ("field: int = 3", "field: str = 4"),
    "a text first": ('\nif sys.platform', '\n"""Another text."""\nif sys.platform'),
    "annotated": ("\nif sys.platform", "\nother: str\nif sys.platform"),
    "moved": ("number: int = 12_345_678\n", "number: int = 12_345_678\n\n\n\n"),
    "the name of a decorator": ("@(lambda function: function)", "@(lambda function: str)"),
    "only a comment": ("def fourth", "# a word\ndef fourth"),
    "what is imported": ("import os", "import math"),
    "a loop around": ("def fourth", "for each in 'ab':\n    last = each\n\ndef fourth"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_pieces_are_what_the_whole_is(name: str) -> None:
    changed = TEXT.replace(*EDITS[name])
    assert changed != TEXT
    pieces = held().changed(changed.encode())
    assert pieces is not None
    same(changed, pieces)
    assert ran(*pieces) == ran(compile(changed, PATH, "exec", dont_inherit=True))
    assert ran(*pieces)["__doc__"] == "What this module is."


WHOLE = {
    "another text that documents it": ("What this", "Which this"),
    "an import from the future behind": ("\nimport os", "\nfrom __future__ import division\nimport os"),
    "none from the future": ("from __future__ import annotations\n", "\n"),
    "an import of what is called": ("import os, sys;", "import os; sys = __import__('sys');"),
    "a branch that goes on": ("\n@(lambda", "\nelse:\n    chosen = 'other'\n\n@(lambda"),
    "a function that goes on": ("\n\nclass Third", "\n    print('never')\n\nclass Third"),
    "a decorator above": ("def fourth", "@staticmethod\ndef fourth"),
    "a text around": ("@(lambda", "'''\n@(lambda"),
    "a text around the whole of it": (TEXT[TEXT.index("@(lambda") : TEXT.index("class Third")],
                                      "x = '''\n" + TEXT[TEXT.index("@(lambda") : TEXT.index("class Third")] + "'''\n"),
    "a line that goes on": ("def fourth", "other = 1 + \\\ndef fourth"),
    "a bracket": ("class Third", "other = (\nclass Third"),
    "nothing that compiles": ("def fourth", "def :\ndef fourth"),
    "returns": ("\nimport os", "\rimport os"),
    "another encoding": ("from __future__", "# coding: latin-1\nfrom __future__"),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_not_whole_in_pieces_is_compiled_as_a_whole(name: str) -> None:
    changed = TEXT.replace(*WHOLE[name])
    assert changed != TEXT
    assert held().changed(changed.encode()) is None


CONSTANTS = '''"""Constants."""

TEXT = "a text of several words, of which equal ones are one object"; ROW = ("in a row", 1_000_000, (0.5, b"by tes"))

def texts(default="a text of several words, of which equal ones are one object"):
    return default is TEXT, ["in a row"][0] is ROW_OF[0], [1_000_000, 0.5, -0.0, 0.0, 1.0, b"by tes"]

ROW_OF = ("in a row", 1_000_000, (0.5, b"by tes")); NUMBERS = [1_000_000, 0.5, -0.0, 0.0, 1.0, b"by tes"]
'''


@pytest.mark.parametrize(
    "edit", [('by tes"\n', ""), ("\n\ndef", "\n\n\n# moved\ndef"), ("\n\nROW_OF", "\nNEW = 3\n\nROW_OF")]
)
def test_equal_constants_are_one_object_in_whichever_piece_they_stand(edit: tuple[str, str]) -> None:
    words = "'a text of several words, of which equal ones are one object'"
    late = f"LATE = [{words}, ('in a row', 1_000_000, (0.5, b'by tes'))]"
    asks = (
        "SAME = [texts()[0], LATE[0] is TEXT, LATE[1] is ROW is ROW_OF, LATE[1][2] is ROW[2], ROW[0] is LATE[1][0],"
        " *(one is other for one in texts()[2] for other in NUMBERS), texts()[2][2] is texts()[2][3]]"
    )
    changed = CONSTANTS.replace(*edit) + f"{late}\n{asks}\n"
    whole = ran(compile(changed, PATH, "exec", dont_inherit=True))
    pieces = held(CONSTANTS).changed(changed.encode())
    assert pieces is not None
    assert ran(*pieces)["SAME"] == whole["SAME"]
    assert "True, True, True, True, True" in whole["SAME"]


def test_a_declared_encoding_and_lines_that_go_on_are_seen_in_the_base_too() -> None:
    with pytest.raises(ValueError, match="thing"):
        held("# coding: latin-1\n" + TEXT)
    assert held("# -*- coding: utf-8 -*-\n" + TEXT).pieces
    long = 'other = "a statement that goes on, and is long enough for a piece of its own" + \\\n"more"\n'
    base = TEXT + long + "\\\n".join(["last = 'and the same again, as long as a piece has to be, or longer' ", "\n"])
    changed = base[: base.rindex("\n\n") + 1] + "+ 'more'\n"
    pieces = held(base).changed(changed.encode())
    assert pieces is None or ran(*pieces) == ran(compile(changed, PATH, "exec", dont_inherit=True))


def test_a_module_without_a_statement_has_no_pieces() -> None:
    assert held("# nothing\n").changed(b"x = 1\n") is None


@pytest.mark.long
@pytest.mark.parametrize("name", ["argparse", "inspect", "typing", "dataclasses", "ast"])
def test_random_edits_of_long_modules(name: str) -> None:
    """Lines that go, come twice, are indented or lose a sign: mostly errors, which are the whole's to tell."""
    text = Path(str(importlib.util.find_spec(name).origin)).read_text(encoding="utf-8")  # type: ignore[union-attr]
    module, chance, pieced = held(text), random.Random(name), 0
    rows = text.splitlines(keepends=True)
    for _ in range(60):
        changed = list(rows)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(changed))
            row = changed[at]
            changed[at] = chance.choice(
                ["", row * 2, "    " + row, row[:-2] + "\n", row + "    pass\n", row + "x = 1\n", '"""\n']
            )
        new = "".join(changed)
        pieces = module.changed(new.encode())
        if pieces is not None:
            pieced += 1
            same(new, pieces)
    assert pieced


LOADED = """
import importlib.util, os, sys, traceback, warnings
def load(path):
    spec = importlib.util.spec_from_file_location("own", path)
    module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
    return module
held, pieced = load(sys.argv[1]), load(sys.argv[2])
place, source = sys.argv[3], sys.argv[3] + "/late.py"
text = open(source, "rb").read()
status = os.stat(source)
data = importlib._bootstrap_external._code_to_timestamp_pyc(
    compile(text, source, "exec"), int(status.st_mtime), status.st_size)
shared = {"imports": [], "patterns": [], "folders": [], "modules": [[source, bytes(data)]], "texts": [[source, text]]}
if sys.argv[5] == "pieces":
    held.hold_shared(shared, pieced.hold_pieces)
    compile, asked = compile, []
    pieced.compile = lambda code, *rest, **more: asked.append(code) or compile(code, *rest, **more)
else:
    asked = ["none"]
open(source, "wb").write(text + sys.argv[4].encode())
sys.path.insert(0, place)
exec(sys.argv[6] if sys.argv[6:] else "")
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    try:
        import late
        print(late.__doc__, late.number, sorted(vars(late)))
    except BaseException:
        print(traceback.format_exc())
print([(str(each.message), each.filename, each.lineno) for each in said], bool(asked))
"""


@pytest.mark.parametrize(
    "more",
    [
        "last = 1\n",
        "import warnings; warnings.warn('asked for', stacklevel=2)\n",
        "def fail():\n    raise KeyError('here')\nfail()\n",
        "if 1 is 1: pass\n",
        "def (:\n",
    ],
)
def test_the_import_system_takes_pieces_as_it_takes_the_whole(tmp_path: Path, more: str) -> None:
    """The same names, warnings and tracebacks, where a fresh interpreter compiles the whole."""
    said = []
    for how in ("pieces", "whole"):
        (tmp_path / how).mkdir()
        (tmp_path / how / "late.py").write_text(TEXT)
        argv = [sys.executable, "-I", "-B", "-c", LOADED, held_code.__file__, pieced_code.__file__, str(tmp_path / how)]
        done = subprocess.run([*argv, more, how], capture_output=True, text=True, timeout=60, check=False)
        assert not done.returncode, done.stderr
        said.append(done.stdout.replace(f"/{how}/", "/HOW/"))
    assert said[0] == said[1]
    assert said[0].endswith("True\n")


@pytest.mark.parametrize(
    "hook",
    [
        "importlib.machinery.SourceFileLoader.source_to_code = lambda *_, **__: compile('number = 1', 'x', 'exec')",
        "importlib.machinery.SourceFileLoader.get_code = lambda *_: compile('number = 1', 'x', 'exec')",
        "importlib.machinery.SourceFileLoader.get_data = lambda *_: b'number = 1'",
    ],
)
def test_who_hooks_into_the_loader_meets_the_whole(tmp_path: Path, hook: str) -> None:
    (tmp_path / "late.py").write_text(TEXT)
    argv = [sys.executable, "-I", "-B", "-c", LOADED, held_code.__file__, pieced_code.__file__, str(tmp_path)]
    done = subprocess.run(
        [*argv, "more = 1\n", "pieces", hook], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.startswith("None 1 ["), done.stdout + done.stderr
