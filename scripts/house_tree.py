"""Read the package's source tree: its modules, who imports whom and where, and the public names they define."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

__all__ = ["Import", "Module", "Tree"]


@dataclass(frozen=True)
class Import:
    """One import of a module of the package.

    Attributes:
        target: Full name of the module that is imported, or of the package that offers the name.
        name: What is imported of it; empty for `import target`.
        deferred: Whether it stands in a function, so that it does not run when the module is imported.
        typing: Whether it stands below `if TYPE_CHECKING`.
        line: Where.
    """

    target: str
    name: str
    deferred: bool
    typing: bool
    line: int


@dataclass(frozen=True)
class Module:
    """One file of the package; `name` is dotted, without the package's own name before it."""

    name: str
    path: Path
    source: str = field(repr=False)

    @cached_property
    def syntax(self) -> ast.Module:
        """The parsed source."""
        return ast.parse(self.source)

    @property
    def lines(self) -> int:
        """Lines of the file, blank ones and comments included."""
        return self.source.count("\n")

    @property
    def is_face(self) -> bool:
        """Whether it is the `__init__` of a package."""
        return self.path.name == "__init__.py"

    def public(self, *kinds: type[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]) -> list[str]:
        """Names of the top-level classes or functions that do not begin with an underscore."""
        return [node.name for node in self.syntax.body if isinstance(node, kinds) and not node.name.startswith("_")]


class Tree:
    """The package as files.

    Args:
        package: Its folder.
        outside: Globs, relative to it, of folders that hold no code of ours.
        guests: The room whose folders are rooms of their own.
    """

    def __init__(self, package: Path, outside: Iterable[str] = (), guests: str = "benchmarks") -> None:
        self.package, self.guests = package, guests
        skipped = {place for glob in outside for place in package.glob(glob)}
        paths = [path for path in sorted(package.rglob("*.py")) if skipped.isdisjoint(path.parents)]
        self.modules = {module.name: module for module in map(self._module, paths)}

    def _module(self, path: Path) -> Module:
        parts = path.relative_to(self.package).with_suffix("").parts
        return Module(".".join(parts[:-1] if parts[-1] == "__init__" else parts), path, path.read_text("utf-8"))

    def room(self, module: str) -> str:
        """Top-level package or module a module belongs to; a guest is a room of its own."""
        parts = module.split(".")
        return ".".join(parts[:2] if parts[0] == self.guests else parts[:1])

    def lines(self, *, core: bool = True) -> int:
        """Lines of the whole package, without the guests where only its core is asked for."""
        named = self.modules.values()
        return sum(module.lines for module in named if not core or module.name.split(".")[0] != self.guests)

    @cached_property
    def imports(self) -> Mapping[str, list[Import]]:
        """Imports of the package's own modules, by module."""
        return {name: list(self._imports(module)) for name, module in self.modules.items()}

    def _imports(self, module: Module) -> Iterator[Import]:
        prefix = self.package.name
        for node, deferred, typing in _walk(module.syntax, deferred=False, typing=False):
            if isinstance(node, ast.Import):
                targets = [(alias.name, "") for alias in node.names]
            elif node.module is None:  # no relative imports here: ruff forbids them
                continue
            else:
                targets = [(node.module, alias.name) for alias in node.names]
            for target, name in targets:
                if target == prefix or target.startswith(f"{prefix}."):
                    yield from self._import(target[len(prefix) + 1 :], name, deferred, typing, node.lineno)

    def _import(self, target: str, name: str, deferred: bool, typing: bool, line: int) -> Iterator[Import]:
        below = f"{target}.{name}".lstrip(".")
        if name and below in self.modules:  # `from package import module`
            yield Import(below, "", deferred, typing, line)
        elif target in self.modules and target:
            yield Import(target, name, deferred, typing, line)

    def past_faces(self) -> tuple[Counter[tuple[str, str]], int]:
        """Count statements that import a module of another room directly, by pair of rooms; and all between rooms."""
        past: Counter[tuple[str, str]] = Counter()
        total = 0
        for name, imports in self.imports.items():
            here = self.room(name)
            for there, target, _ in {(self.room(one.target), one.target, one.line) for one in imports}:
                total += there != here
                past[here, there] += there not in {here, target}
        return +past, total

    def repeated(self, *kinds: type[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]) -> dict[str, list[str]]:
        """Public top-level names that more than one module defines, with these modules."""
        places: dict[str, list[str]] = {}
        for module in self.modules.values():
            for name in set(module.public(*kinds)):
                places.setdefault(name, []).append(module.name)
        return {name: found for name, found in sorted(places.items()) if len(found) > 1}

    def circles(self, *, deferred: bool = True) -> list[list[str]]:
        """Groups of modules that import one another, in a circle.

        Args:
            deferred: Whether imports inside functions count; those for the type checker alone never do.
        """
        graph = {
            name: {one.target for one in found if not one.typing and (deferred or not one.deferred)} - {name}
            for name, found in self.imports.items()
        }
        return [sorted(group) for group in _components(graph) if len(group) > 1]

    def importers(self) -> dict[str, set[str]]:
        """The modules that import each module; the `__init__` files above it are not counted."""
        found: dict[str, set[str]] = {name: set() for name in self.modules}
        for name, imports in self.imports.items():
            for one in imports:
                found[one.target].add(name)
        return found

    def small(self, most: int, registries: Iterable[str]) -> list[str]:
        """Modules shorter than `most` lines that exactly one other imports and that are in no registry."""
        importers = self.importers()
        return [
            name
            for name, module in self.modules.items()
            if module.lines < most and len(importers[name]) == 1 and not module.is_face
            and not any(name.startswith(f"{each}.") for each in registries)
        ]  # fmt: skip

    def matching(self, test: Callable[[str], object]) -> list[str]:
        """Paths, relative to the package, of the modules whose source passes a test."""
        return [str(each.path.relative_to(self.package)) for each in self.modules.values() if test(each.source)]


_Statement = ast.Import | ast.ImportFrom


def _walk(node: ast.AST, *, deferred: bool, typing: bool) -> Iterator[tuple[_Statement, bool, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Statement):
            yield child, deferred, typing
            continue
        guarded = typing or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test))
        inside = deferred or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _walk(child, deferred=inside, typing=guarded)


def _components(graph: Mapping[str, Iterable[str]]) -> list[set[str]]:
    """Strongly connected components, by Tarjan's algorithm without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []
    for root in graph:
        work = [(root, iter(graph[root]))] if root not in index else []
        while work:
            node, rest = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
            after = next((each for each in rest if each not in index), None)
            if after is not None:
                work.append((after, iter(graph[after])))
                continue
            work.pop()
            low[node] = min([low[node], *(low[each] for each in graph[node] if each in stack)])
            if low[node] == index[node]:
                place = stack.index(node)
                found.append(set(stack[place:]))
                del stack[place:]
    return found
