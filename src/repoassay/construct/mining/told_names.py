"""What hidden tests need that the base does not have: names, texts and exceptions that only the solution brings.

An agent that is not told of them cannot meet the tests, however well it understood the task. Both sides are read as
text; nothing is run.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["NeededFact", "needed_facts", "tell_text", "untold"]

_LEAST_TEXT = 8
_MOST_TEXT = 300
_WORD = r"[^\W\d_]{3,}"
_FILLED = re.compile(r"%[sdrif]|\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class NeededFact:
    """One thing that tests need and only the solution has.

    Attributes:
        kind: `name`, `parameter`, `attribute`, `module`, `text` or `exception`.
        word: What is looked for in the instruction.
        sentence: What tells an agent of it.
    """

    kind: str
    word: str
    sentence: str

    @property
    def private(self) -> bool:
        """Whether it is a name that its authors meant for themselves."""
        return self.kind not in ("text", "exception") and self.word.rpartition(".")[2].startswith("_")


@dataclass(frozen=True, slots=True)
class _Definition:
    kind: str
    name: str
    module: str
    owner: str = ""

    @property
    def fact(self) -> NeededFact:
        place = f" of `{self.owner}`" if self.owner else ""
        noun = "attribute" if self.kind == "field" else self.kind
        return NeededFact(
            self.kind, self.name, f"The tests use the {noun} `{self.name}`{place} of module `{self.module}`."
        )


def needed_facts(
    base: Mapping[str, str], solution: Mapping[str, str], tests: Mapping[str, tuple[str, str]], must_pass: Iterable[str]
) -> list[NeededFact]:
    """What the tests need of what the solution brings.

    Args:
        base: Texts of the changed source files at the base, by path; absent where the file is new. Those in
            Python are read.
        solution: The same with the solution.
        tests: Texts of the changed test files at the base (empty where new) and with the solution, by path.
        must_pass: Ids of tests that must pass, `FILE::NAME`.
    """
    base = {path: text for path, text in base.items() if path.endswith(".py")}
    solution = {path: text for path, text in solution.items() if path.endswith(".py")}
    used = _Use()
    wanted = list(must_pass)
    for path, (before, after) in tests.items():
        if not path.endswith(".py"):
            continue
        functions = {each.partition("::")[2].partition("[")[0].split("::")[-1] for each in wanted
                     if each.startswith(f"{path}::")}  # fmt: skip
        used.read(before, after, functions)
    used.known = set(re.findall(r"\.(\w+)", " ".join((*base.values(), *(before for before, _ in tests.values())))))
    found: dict[tuple[str, str], NeededFact] = {}
    for path, after in sorted(solution.items(), key=lambda item: (_module(item[0]) not in used.modules, item[0])):
        for fact in _of_file(path, base.get(path), after, used):
            found.setdefault((fact.kind, fact.word), fact)
    texts = [fact.word for fact in found.values() if fact.kind == "text" and len(fact.word) >= _LEAST_TEXT]
    parameters = {fact.word for fact in found.values() if fact.kind == "parameter"}
    return [
        fact for fact in found.values()
        if not (fact.kind == "field" and fact.word in parameters)  # what `self.x = x` keeps
        # A longer text made of a shorter one is told with it.
        and not (fact.kind == "text" and any(other != fact.word and other in fact.word for other in texts))
    ]  # fmt: skip


def untold(facts: Sequence[NeededFact], instruction: str) -> list[NeededFact]:
    """Facts that an instruction does not tell, in their order."""
    flat = " ".join(instruction.split())
    missing = []
    for fact in facts:
        bare = not re.search(r"\w", fact.word[:1] + fact.word[-1:]) or fact.kind == "text"
        in_text = fact.word in flat if bare else re.search(rf"(?<!\w){re.escape(fact.word)}(?!\w)", flat)
        if not in_text:
            missing.append(fact)
    return missing


def tell_text(text: str, base_texts: set[str], new_texts: set[str]) -> str:
    """What of a test's text has to be told, in one line: all of it, the part that only the solution has, or nothing.

    Args:
        text: A text of a test.
        base_texts: Texts of the sources at the base; what they hold or can be filled in to be is known.
        new_texts: Texts that only the solution has.
    """
    if len(text) > _MOST_TEXT or not re.search(_WORD, text) or _made_of(text, base_texts):
        return ""
    return " ".join((text if _made_of(text, new_texts) else _shared(text, new_texts)).split())


def _of_file(path: str, before: str | None, after: str, used: _Use) -> Iterator[NeededFact]:
    new_tree = _parsed(after)
    old_tree = _parsed(before or "")
    if new_tree is None:
        return
    module = _module(path)
    old = set(_definitions(old_tree, module)) if old_tree is not None else set()
    if before is None and any(name == module or name.startswith(f"{module}.") or module.endswith(f".{name}")
                              for name in used.modules):  # fmt: skip
        yield NeededFact("module", module, f"The tests import the module `{module}`.")
    for definition in dict.fromkeys(_definitions(new_tree, module)):
        if definition not in old and used.needs(definition):
            yield definition.fact
    had = _strings(old_tree) if old_tree is not None else set()
    brought = _strings(new_tree) - had
    for text in used.texts:
        if expected := tell_text(text, had, brought):
            yield NeededFact("text", expected, f"The tests expect this text: `{expected}`")
    raised = _raised(new_tree) - (_raised(old_tree) if old_tree is not None else set())
    for name in used.exceptions & raised & set(dir(builtins)):
        yield NeededFact("exception", name, f"The tests expect the exception `{name}`.")


class _Use:
    """What test code refers to: identifiers by role, and literals."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.keywords: set[tuple[str, str]] = set()
        self.modules: set[str] = set()
        self.exceptions: set[str] = set()
        self.texts: dict[str, None] = {}
        self.known: set[str] = set()
        """Attributes that the base speaks of, which may be what a test means by an attribute of that name."""

    def read(self, before: str, after: str, functions: set[str]) -> None:
        """Read a test file: what of it is new, and the functions that must pass."""
        tree = _parsed(after)
        if tree is None:
            return
        known = {row.strip() for row in before.splitlines()}
        fresh = {number for number, row in enumerate(after.splitlines(), 1) if row.strip() not in known}
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in functions:
                fresh.update(range(node.lineno, _end(node) + 1))
        docs = _docstrings(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = _last_name(node.func)
                self.keywords |= {(called, each.arg) for each in node.keywords if each.arg and each.lineno in fresh}
            line = getattr(node, "lineno", None)
            if isinstance(node, (ast.Import, ast.ImportFrom)) and fresh & set(range(node.lineno, _end(node) + 1)):
                line = next(iter(fresh))
            if line in fresh and id(node) not in docs:
                self._note(node)

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name):
                self.names.add(name)
            case ast.Attribute(attr=name):
                self.attributes.add(name)
            case ast.ImportFrom(module=module, names=names):
                self.modules |= {str(module), *(f"{module}.{each.name}" for each in names)}
                self.names |= {each.name for each in names}
            case ast.Import(names=names):
                self.modules |= {each.name for each in names}
            case ast.Call(func=func):
                if _last_name(func) in ("raises", "assertRaises", "assertRaisesRegex", "warns"):
                    self.exceptions |= {_last_name(each) for each in node.args[:1]}
            case ast.Constant(value=str(text)):
                plain = re.sub(r"\\([^\w\s])", r"\1", text).strip()
                if len(plain) <= _MOST_TEXT and re.search(_WORD, plain):
                    self.texts[plain] = None

    def needs(self, definition: _Definition) -> bool:
        """Whether test code refers to a definition."""
        if definition.kind == "parameter":
            called = definition.owner.rpartition(".")
            owners = {called[2], called[0].rpartition(".")[2]} - {""}
            return any(name == definition.name and function in owners for function, name in self.keywords)
        if definition.kind == "field" and definition.name in self.known:
            return False
        if definition.kind in ("attribute", "field"):
            return definition.name in self.attributes or any(
                name == definition.name and function == definition.owner for function, name in self.keywords
            )
        return definition.name in self.names or definition.name in self.attributes


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _module(path: str) -> str:
    plain = re.sub(r"^(src|lib)/", "", path).removesuffix(".py").removesuffix("/__init__")
    return plain.replace("/", ".")


def _definitions(tree: ast.Module, module: str) -> Iterator[_Definition]:
    """Functions, classes and constants of a module; methods, attributes and parameters with what they belong to."""
    for node in _statements(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _Definition("name", node.name, module)
            yield from _parameters(node, module, node.name)
        elif isinstance(node, ast.ClassDef):
            yield _Definition("name", node.name, module)
            yield from _members(node, module)
        else:
            yield from (_Definition("name", name, module) for name in _targets(node))


def _members(owner: ast.ClassDef, module: str) -> Iterator[_Definition]:
    for node in _statements(owner.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not re.fullmatch(r"__\w+__", node.name):
                yield _Definition("attribute", node.name, module, owner.name)
            yield from _parameters(node, module, f"{owner.name}.{node.name}")
            for inner in ast.walk(node):
                match inner:
                    case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                        yield _Definition("field", name, module, owner.name)
        else:
            yield from (_Definition("attribute", name, module, owner.name) for name in _targets(node))


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef, module: str, owner: str) -> Iterator[_Definition]:
    shown = owner.removesuffix(".__init__") if owner.endswith(".__init__") else owner
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if argument.arg not in ("self", "cls"):
            yield _Definition("parameter", argument.arg, module, shown)


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a block, and those below its conditions."""
    for node in body:
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _statements([*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])])
            yield from _statements(each for handler in getattr(node, "handlers", []) for each in handler.body)
        else:
            yield node


def _targets(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom):
        yield from (each.asname or each.name for each in node.names)
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (each.id for each in targets if isinstance(each, ast.Name))


def _docstrings(tree: ast.AST) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            match node.body[0]:
                case ast.Expr(value=ast.Constant() as text):
                    found.add(id(text))
    return found


def _strings(tree: ast.Module) -> set[str]:
    docs = _docstrings(tree)
    return {
        node.value for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    }  # fmt: skip


def _raised(tree: ast.Module) -> set[str]:
    calls = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc)
    return {_last_name(each.func if isinstance(each, ast.Call) else each) for each in calls}


def _made_of(text: str, templates: set[str]) -> bool:
    """Whether a text is one of these, with whatever in place of what they leave to be filled in."""
    if text in templates:
        return True
    for each in templates:
        parts = _FILLED.split(each.strip())
        if len(parts) > 1 and re.search(_WORD, "".join(parts)) and _fits(parts, text):
            return True
    return False


def _fits(parts: list[str], text: str) -> bool:
    """Whether a text begins and ends as a template does, and has what is between in its order."""
    first, *between, last = parts
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    place = len(first)
    for part in between:
        place = text.find(part, place, len(text) - len(last)) + len(part)
        if place < len(part):
            return False
    return True


def _shared(text: str, brought: set[str]) -> str:
    """A text of a test that has a longer one which the solution brings within it, or lies within that, else empty.

    Of one that is mostly something else, which is rather given to the code than expected of it, only what it brings.
    """
    if len(text) < _LEAST_TEXT:
        return ""
    plain = (_FILLED.sub("", each).strip() for each in brought)
    alike = [each for each in plain if len(each) >= _LEAST_TEXT and re.search(_WORD, each)]
    if any(text in each or (each in text and 2 * len(each) >= len(text)) for each in alike):
        return text
    return max((each for each in alike if each in text), key=len, default="")
