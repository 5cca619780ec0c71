"""Which expressions of a test file need nothing of the code under test.

An expression is *closed* when the test file alone says what it is worth: literals, operators, pure functions of the
standard library, and names that are bound once to such an expression.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from repoassay.grading.oracle.scopes import CHANGERS, Binding, Key, Scope, Scopes

__all__ = ["MODULES", "Binding", "ClosedNames", "Scope"]

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
_EXCEPTIONS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)


class ClosedNames(Scopes):
    """The scopes of a module, and what in it is closed.

    Attributes:
        columns: Names that stand for a column of a table in which every entry is closed.
        open: Names that must not be taken as closed although they could be.
    """

    def __init__(self, tree: ast.Module) -> None:
        super().__init__(tree)
        self.columns: set[Key] = set()
        self.open: set[Key] = set()
        self._asked: set[Key] = set()

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
            return func.attr not in CHANGERS and self.closed(func.value, bound)
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
