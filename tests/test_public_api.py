"""The names and signatures that Python programs may rest on, and what importing them costs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import repoassay

ROOT = Path(__file__).parents[1]
GOLDEN = Path(__file__).parent / "golden" / "public_api.txt"
FUNCTIONS = ("evaluate", "resume", "load_run", "compare", "grade", "validate", "open_workspace")
VERBS = ("run", "resume", "grade", "validate", "compare", "submit")
ENGINE = {
    "Bench", "Cache", "SubmissionEngine", "bound_of", "check", "execute", "find_suite", "grade_outputs", "held",
    "make_plan", "open_run", "open_sandbox", "prepare", "resume_run", "validate_task",
}  # fmt: skip
"""What only the face puts together."""


def test_names_and_signatures_are_frozen() -> None:
    """Record a meant change with REPOASSAY_GOLDEN=write; say in changelog.d what was removed or renamed."""
    text = "".join(f"{line}\n" for name in sorted(repoassay.__all__) for line in described(name))
    if os.environ.get("REPOASSAY_GOLDEN") == "write":
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, "utf-8")
    assert text.splitlines() == GOLDEN.read_text("utf-8").splitlines()


def described(name: str) -> Iterator[str]:
    thing = getattr(repoassay, name)
    if inspect.isfunction(thing):
        yield f"{name}{inspect.signature(thing)}"
    elif inspect.isclass(thing):
        yield f"class {name}({', '.join(base.__name__ for base in thing.__bases__)})"
        if thing.__module__.startswith(("repoassay.api", "repoassay.agents")):
            members = {key: value for base in reversed(thing.__mro__[:-1]) for key, value in vars(base).items()}
            first = () if getattr(thing, "_is_protocol", False) else ("__init__",)
            own = (*first, *sorted(key for key in members if not key.startswith("_")))
            yield from (f"    {line}" for key in own if key in members for line in member(key, members[key]))
    else:
        yield name


def member(name: str, value: object) -> Iterator[str]:
    if inspect.isfunction(value):
        yield f"{name}{inspect.signature(value)}"
    elif isinstance(value, property):
        yield f"{name}: property"
    else:
        yield name


def test_there_are_few_names_and_each_is_there_and_explained() -> None:
    assert len(repoassay.__all__) <= 41
    assert set(repoassay.__all__) <= set(dir(repoassay))
    for name in repoassay.__all__:
        assert name == "__version__" or inspect.getdoc(getattr(repoassay, name)), name
    with pytest.raises(AttributeError, match="evaluat"):
        repoassay.evaluat  # noqa: B018


def test_importing_it_imports_nothing_else() -> None:
    script = "import sys; before = set(sys.modules); import repoassay; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["__future__", "repoassay", "repoassay.lazy"]


def test_no_room_takes_a_public_name() -> None:
    rooms = {path.name.removesuffix(".py") for path in (ROOT / "src" / "repoassay").iterdir()}
    assert not rooms & set(repoassay.__all__)


def test_everything_after_the_first_argument_is_named() -> None:
    for name in FUNCTIONS:
        kinds = [each.kind for each in inspect.signature(getattr(repoassay, name)).parameters.values()]
        assert kinds[0] is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert set(kinds[1:]) <= {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL}, name


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_parses_calls_the_face_and_prints(verb: str) -> None:
    tree = ast.parse((ROOT / "src" / "repoassay" / "cli" / f"{verb}.py").read_text())
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert any(node.module == "repoassay.api" for node in froms)
    taken = {alias.name for node in froms if node.module != "repoassay.api" for alias in node.names}
    assert not taken & ENGINE


def test_the_face_prints_nothing_and_ends_nothing() -> None:
    for path in (ROOT / "src" / "repoassay" / "api").glob("*.py"):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        assert not names & {"print", "exit", "signal", "sys", "click"}, path.name


def test_examples_in_docstrings_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other in one folder, as a reader would try them."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"ra": repoassay}
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    tried = 0
    for name in (*FUNCTIONS, "Grader"):
        thing = getattr(repoassay, name)
        module = importlib.import_module(thing.__module__)
        for example in finder.find(thing, name, module, globs=names):
            said: list[str] = []
            outcome = runner.run(example, out=said.append, clear_globs=False)
            names |= example.globs
            assert outcome.failed == 0, "".join(said)
            tried += outcome.attempted
    assert tried >= 2 * len(FUNCTIONS)


@pytest.mark.parametrize("document", ["README.md", "docs/python.md"])
def test_what_documents_show_runs(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```py(?:thon)?\n(.*?)^```", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    source = tmp_path / "guide.py"  # a file, so that the source of its functions can be read
    source.write_text("\n".join(blocks))
    exec(compile(source.read_text(), source, "exec"), {"__name__": "guide"})
    assert list(tmp_path.glob("runs/*/run.json"))
