"""Scopes of a test file: where each name is bound, where it is used, and what is changed in place."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

__all__ = ["CHANGERS", "Binding", "Key", "Scope", "Scopes"]

CHANGERS = frozenset({
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault", "popitem", "add",
    "discard",
})  # fmt: skip
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Binding:
    """One place that gives a name a value.

    Attributes:
        value: The expression of a plain assignment, None for any other way.
        direct: Whether it stands directly in the body of its scope.
        imported: `(module, name)` of an import; the name is empty for a module itself.
    """

    value: ast.expr | None = None
    direct: bool = False
    imported: tuple[str, str] | None = None


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class, function, lambda or comprehension."""

    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: set[str] = field(default_factory=set)

    def bind(self, name: str, binding: Binding) -> None:
        """Note one more binding; one declared global or nonlocal belongs to no scope that is looked at."""
        owner: Scope = self
        if name in self.elsewhere:
            while owner.parent is not None:
                owner.bindings.setdefault(name, []).append(Binding())
                owner = owner.parent
        owner.bindings.setdefault(name, []).append(binding)

    def find(self, name: str) -> Scope | None:
        """The scope that binds a name as seen from here; None for a builtin."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if name in scope.bindings and (first or not isinstance(scope.node, ast.ClassDef)):
                return scope
            scope, first = scope.parent, False
        return None


Key = tuple[Scope, str]


class Scopes(ast.NodeVisitor):
    """Scopes, bindings and uses of a module.

    Attributes:
        scope_of: The scope in which each node is evaluated.
        scopes: The scope that each function, class, lambda or comprehension opens.
        uses: Every use of a name, by the scope that binds it.
        changed: Names of what is changed in place somewhere.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope(tree, None)
        self.scope_of: dict[ast.AST, Scope] = {}
        self.scopes: dict[ast.AST, Scope] = {}
        self.uses: dict[Key, list[ast.Name]] = {}
        self.changed: set[Key] = set()
        self._here = self.module
        self._direct = True
        self._changes: list[tuple[Scope, str]] = []
        self._loads: list[tuple[Scope, ast.Name]] = []
        for statement in tree.body:
            self.visit(statement)
        for scope, name in self._loads:
            found = scope.find(name.id)
            if found is not None:
                self.uses.setdefault((found, name.id), []).append(name)
        for scope, changed in self._changes:
            if (owner := scope.find(changed)) is not None:
                self.changed.add((owner, changed))

    def visit(self, node: ast.AST) -> None:
        """Note the scope of every node on the way."""
        self.scope_of[node] = self._here
        super().visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """A use, or a binding in some other way than by a plain assignment."""
        if isinstance(node.ctx, ast.Load):
            self._loads.append((self._here, node))
        else:
            self._here.bind(node.id, Binding())

    def visit_Assign(self, node: ast.Assign) -> None:
        """A plain assignment to one name is remembered with its value."""
        self.visit(node.value)
        if len(node.targets) == 1 and isinstance(target := node.targets[0], ast.Name):
            self.scope_of[target] = self._here
            self._here.bind(target.id, Binding(node.value, self._direct))
            return
        for each in node.targets:
            self._change(each)
            self.visit(each)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Changes what it names."""
        self._change(node.target)
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        """Changes what it names."""
        for each in node.targets:
            self._change(each)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """A method that changes its object makes a name no constant."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGERS:
            self._change(node.func)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        """Binds modules."""
        for alias in node.names:
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            self._here.bind(alias.asname or whole, Binding(imported=(whole, "")))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Binds names of a module."""
        for alias in node.names:
            origin = (node.module or "", alias.name) if not node.level else None
            self._here.bind(alias.asname or alias.name, Binding(imported=origin))

    def visit_Global(self, node: ast.Global) -> None:
        """What is declared so is no constant anywhere."""
        self._here.elsewhere.update(node.names)
        for name in node.names:
            self.module.bind(name, Binding())

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """As for global."""
        self._here.elsewhere.update(node.names)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """Binds the exception's name."""
        if node.name:
            self._here.bind(node.name, Binding())
        self._nested(node)

    def visit_FunctionDef(self, node: _Function) -> None:
        """A function binds its name here and its parameters inside."""
        self._here.bind(node.name, Binding())
        for each in [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(each)
        with_body = self._enter(node)
        self._parameters(node.args)
        for statement in node.body:
            self.visit(statement)
        self._leave(with_body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - names that ast asks for

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """As a function."""
        for each in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(each)
        before = self._enter(node)
        self._parameters(node.args)
        self.visit(node.body)
        self._leave(before)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class binds its name here and its attributes inside."""
        self._here.bind(node.name, Binding())
        for each in [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]:
            self.visit(each)
        before = self._enter(node)
        for statement in node.body:
            self.visit(statement)
        self._leave(before)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        before = self._enter(node)
        for generator in node.generators:
            self.visit(generator)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part)
        self._leave(before)

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension  # noqa: N815 - names that ast asks for

    def _nested(self, node: ast.AST) -> None:
        before, self._direct = self._direct, False
        self.generic_visit(node)
        self._direct = before

    visit_If = visit_For = visit_AsyncFor = visit_While = visit_Try = visit_With = visit_AsyncWith = _nested  # noqa: N815 - names that ast asks for
    visit_Match = visit_TryStar = _nested  # noqa: N815 - names that ast asks for

    def _parameters(self, args: ast.arguments) -> None:
        for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]:
            self._here.bind(arg.arg, Binding())

    def _enter(self, node: ast.AST) -> tuple[Scope, bool]:
        before = (self._here, self._direct)
        self._here, self._direct = Scope(node, self._here), True
        self.scopes[node] = self._here
        self.scope_of[node] = before[0]
        return before

    def _leave(self, before: tuple[Scope, bool]) -> None:
        self._here, self._direct = before

    def _change(self, target: ast.AST) -> None:
        """The name at the root of `a[0]`, `a.b` or `a.pop` is changed in place."""
        while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
            target = target.value
        if isinstance(target, ast.Name):
            self._changes.append((self._here, target.id))
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._change(each)
