"""Names of a test file: where they are bound and used, and which expressions need nothing of the code under test.

An expression is *closed* when the test file alone says what it is worth: literals, operators, pure functions of the
standard library, and names that are bound once to such an expression.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["MODULES", "Binding", "Names", "Scope"]

MODULES = frozenset({
    "datetime", "decimal", "fractions", "math", "cmath", "re", "collections", "itertools", "functools", "operator",
    "pathlib", "uuid", "textwrap", "json", "string", "ipaddress", "enum", "typing", "urllib.parse", "os.path",
})  # fmt: skip
"""Standard modules whose functions a judge may call outside the sandbox."""
_PURE = frozenset({
    "abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "chr", "complex", "dict", "divmod", "enumerate",
    "float", "format", "frozenset", "hex", "int", "len", "list", "map", "max", "min", "oct", "ord", "pow", "range",
    "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip", "isinstance",
})  # fmt: skip
_TYPES = frozenset({"object", "type", "property", "memoryview", "NotImplemented", "Ellipsis"})
_IMPURE = frozenset({
    "now", "today", "utcnow", "time", "time_ns", "getcwd", "cwd", "home", "environ", "uuid1", "uuid4", "exists",
    "is_file", "is_dir", "read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "glob", "rglob", "resolve",
    "absolute", "open", "stat", "expanduser", "abspath", "realpath", "getmtime", "getsize", "fromtimestamp",
    "astimezone", "timestamp", "mkdir", "unlink", "touch", "getnode", "load", "isfile", "isdir",
})  # fmt: skip
_CHANGERS = frozenset({
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault", "popitem", "add",
    "discard",
})  # fmt: skip
_EXCEPTIONS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)
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


class Names(ast.NodeVisitor):
    """Scopes, bindings and uses of a module.

    Attributes:
        scope_of: The scope in which each node is evaluated.
        scopes: The scope that each function, class, lambda or comprehension opens.
        uses: Every use of a name, by the scope that binds it.
        columns: Names that stand for a column of a table in which every entry is closed.
        open: Names that must not be taken as closed although they could be.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope(tree, None)
        self.scope_of: dict[ast.AST, Scope] = {}
        self.scopes: dict[ast.AST, Scope] = {}
        self.uses: dict[Key, list[ast.Name]] = {}
        self.columns: set[Key] = set()
        self.open: set[Key] = set()
        self.changed: set[Key] = set()
        self._asked: set[Key] = set()
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

    # What binds

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
        if isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGERS:
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

    # What is closed

    def constant(self, scope: Scope, name: str) -> ast.expr | None:
        """The closed expression that a name is bound to once and for all, as seen from a scope, or None."""
        owner = scope.find(name)
        if owner is None or (owner, name) in self.open or (owner, name) in self.changed:
            return None
        if isinstance(owner.node, ast.ClassDef) or len(owner.bindings[name]) != 1:
            return None
        binding = owner.bindings[name][0]
        if binding.value is None or not binding.direct or (owner, name) in self._asked:
            return None
        self._asked.add((owner, name))  # a name that is bound by help of itself is no constant
        try:
            return binding.value if self.closed(binding.value) else None
        finally:
            self._asked.discard((owner, name))

    def imported(self, scope: Scope, name: str) -> tuple[str, str] | None:
        """What a name was imported from, when it is bound so and in no other way."""
        owner = scope.find(name)
        bindings = owner.bindings[name] if owner else []
        return bindings[0].imported if len(bindings) == 1 else None

    def column(self, node: ast.Name) -> bool:
        """Whether a name stands for the column of a withheld table."""
        owner = self.scope_of[node].find(node.id)
        return owner is not None and (owner, node.id) in self.columns and (owner, node.id) not in self.open

    def closed(self, node: ast.AST, bound: frozenset[str] = frozenset()) -> bool:
        """Whether an expression needs nothing of the code under test. `bound` are names of comprehensions around it."""
        match node:
            case ast.Constant():
                return True
            case ast.Name():
                return node.id in bound or self._closed_name(node)
            case ast.Call():
                callable_ = self._closed_call(node.func, bound)
                return callable_ and all(self.closed(part, bound) for part in self._arguments(node))
            case ast.Attribute():
                pure = node.attr not in _IMPURE and not node.attr.startswith("_")
                return pure and (self._module(node.value) or self.closed(node.value, bound))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                inner = bound | {name.id for each in node.generators for name in ast.walk(each.target)
                                 if isinstance(name, ast.Name)}  # fmt: skip
                parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
                parts += [part for each in node.generators for part in (each.iter, *each.ifs)]
                return all(self.closed(part, inner) for part in parts)
            case (
                ast.List()
                | ast.Tuple()
                | ast.Set()
                | ast.Dict()
                | ast.UnaryOp()
                | ast.BinOp()
                | ast.BoolOp()
                | (ast.Compare())
                | ast.IfExp()
                | ast.Subscript()
                | ast.Slice()
                | ast.JoinedStr()
                | ast.FormattedValue()
                | ast.Starred()
            ):
                children = (part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
                return all(self.closed(part, bound) for part in children)
        return False

    def immutable(self, node: ast.AST) -> bool:
        """Whether a closed expression is surely of a type that nobody can change in place."""
        if isinstance(node, ast.Constant | ast.JoinedStr):
            return True
        if isinstance(node, ast.Tuple | ast.UnaryOp | ast.BinOp):
            return all(self.immutable(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            return name in {"dedent", "Decimal", "Fraction", "datetime", "date", "timedelta", "str", "int", "float",
                            "bytes", "frozenset", "join", "format", "encode", "strip", "replace", "range"}  # fmt: skip
        if isinstance(node, ast.Name):
            value = self.constant(self.scope_of.get(node, self.module), node.id)
            return value is not None and self.immutable(value)
        return False

    def _closed_name(self, node: ast.Name) -> bool:
        scope = self.scope_of.get(node, self.module)
        owner = scope.find(node.id)
        if owner is None:
            return node.id in _PURE or node.id in _TYPES or node.id in _EXCEPTIONS
        if self.column(node):
            return True
        origin = self.imported(scope, node.id)
        if origin is not None:
            return self._standard(origin)
        return self.constant(scope, node.id) is not None

    def _closed_call(self, func: ast.AST, bound: frozenset[str]) -> bool:
        if isinstance(func, ast.Name):
            scope = self.scope_of.get(func, self.module)
            if scope.find(func.id) is None:
                return func.id in _PURE
            origin = self.imported(scope, func.id)
            return origin is not None and (self._standard(origin) or origin == ("pytest", "approx"))
        if isinstance(func, ast.Attribute):
            if func.attr in _IMPURE or func.attr.startswith("_"):
                return False
            if self._module(func.value):
                return True
            if func.attr == "approx" and isinstance(func.value, ast.Name):
                return self.imported(self.scope_of.get(func.value, self.module), func.value.id) == ("pytest", "")
            return func.attr not in _CHANGERS and self.closed(func.value, bound)
        return False

    def _module(self, node: ast.AST) -> bool:
        """Whether an expression names one of the standard modules that may be used outside."""
        if isinstance(node, ast.Attribute):
            return isinstance(node.value, ast.Name) and f"{node.value.id}.{node.attr}" in MODULES
        if not isinstance(node, ast.Name):
            return False
        origin = self.imported(self.scope_of.get(node, self.module), node.id)
        return origin is not None and not origin[1] and origin[0] in MODULES

    @staticmethod
    def _standard(origin: tuple[str, str]) -> bool:
        module, name = origin
        return module in MODULES and name not in _IMPURE and name != "*"

    @staticmethod
    def _arguments(node: ast.Call) -> Iterator[ast.expr]:
        yield from node.args
        yield from (keyword.value for keyword in node.keywords)
