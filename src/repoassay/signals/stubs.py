"""The head with its program taken back to the base's, and stubs for names that only the head has.

Without stubs one missing import would make every test of a file look as if it failed on the base; with them each test
is asked by itself. A stub raises what no `except Exception` catches, so that no test passes for its sake.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repoassay.signals.bench import TreeSide
from repoassay.signals.change import Change
from repoassay.signals.configuration import is_configuration
from repoassay.survey import is_test_support
from repoassay.types import FileEdit

__all__ = ["taken_back"]

_HEADER = """

class _NotOnBase(BaseException):
    pass


class _Absent:
    def __getattr__(self, name):
        if name.startswith(("_", "pytest")):  # what pytest asks of every name in a test's module
            raise AttributeError(name)
        raise _NotOnBase(name)

    def __call__(self, *args, **kwargs):
        raise _NotOnBase("called")

    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __iter__ = __len__ = __bool__ = __getitem__ = __call__
    __contains__ = __add__ = __radd__ = __str__ = __enter__ = __int__ = __float__ = __index__ = __call__

    def __hash__(self):
        return 0

    def __repr__(self):
        return "absent on the base commit"

"""
_CLASS = """
class {name}({bases}):
    def __init__(self, *args, **kwargs):
        raise _NotOnBase("{name}")
"""


def taken_back(change: Change) -> TreeSide:
    """The head's tests, their data and configuration with the base's program, its missing names stubbed."""
    edits: dict[str, FileEdit | None] = {}
    kinds = _kinds(change)
    for each in change.diff.files:
        if is_test_support(each.path) or is_configuration(each.path):
            continue
        if each.new is not None and each.new != each.old:
            edits[each.new] = None if change.head.has(each.new) else FileEdit(b"")
        if each.old is not None:
            content = change.base.bytes(each.old, 64 * 2**20)
            if content is not None:
                edits[each.old] = FileEdit(content)
        if each.new is not None and each.new.endswith(".py"):
            after = change.head.python(each.new)
            before = change.base.python(each.new) if each.old == each.new else None
            text = (change.base.text(each.new) or "") if each.old == each.new else ""
            missing = [name for name in _bound(after) if name not in set(_bound(before))] if after else []
            if missing or each.old is None:
                stubs = "".join(_stub(name, kinds) for name in missing)
                edits[each.new] = FileEdit((text + (_HEADER + stubs if missing else "")).encode())
    return TreeSide(change.head, edits)


def _kinds(change: Change) -> dict[str, ast.stmt]:
    """Definitions of the changed files of the head, by name."""
    found: dict[str, ast.stmt] = {}
    for each in change.diff.files:
        tree = change.head.python(each.new) if each.new and each.new.endswith(".py") else None
        for node in tree.body if tree else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.setdefault(node.name, node)
    return found


def _bound(tree: ast.Module | None) -> Iterator[str]:
    """Names bound at the top of a module, in order."""
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names if alias.name != "*")


def _stub(name: str, kinds: dict[str, ast.stmt]) -> str:
    node = kinds.get(name)
    if name.startswith("__") and name.endswith("__"):
        return ""
    if isinstance(node, ast.ClassDef):
        bases = [ast.unparse(base) for base in node.bases]
        if any(base.endswith(("Error", "Exception", "Warning")) for base in [*bases, name] if base != "object"):
            return f"\nclass {name}(Warning if {name.endswith('Warning')} else Exception):\n    pass\n"
        return _CLASS.format(name=name, bases="")
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return f'\ndef {name}(*args, **kwargs):\n    raise _NotOnBase("{name}")\n'
    return f"\n{name} = _Absent()\n"
