"""Faces of packages: the public names of a package, each imported from its module when it is first used.

A package names them once, in the imports below `if TYPE_CHECKING` that type checkers read; `attach` reads the same
statements, and not before a name is asked for. Importing a package then costs nothing, so that every room may be
imported through its face, whatever the rest of the room needs.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

__all__ = ["attach", "guarded_imports"]


def attach(
    package: str, lacking: Callable[[str], Exception] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package (PEP 562).

    Args:
        package: Its `__name__`. Its source imports the public names below `if TYPE_CHECKING`, each `from` its module.
        lacking: Makes the error that names the extra, of a foreign package its modules import and that is not there.
    """
    homes: dict[str, tuple[str, str]] = {}

    def read_homes() -> dict[str, tuple[str, str]]:
        nonlocal homes
        homes = homes or guarded_imports(sys.modules[package])
        return homes

    def get(name: str) -> object:
        if name == "__all__":
            return sorted(read_homes())
        try:
            home, name_there = read_homes()[name]
        except KeyError:
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
        try:
            __import__(home)  # the built-in: importing importlib would be most of what a face costs
        except ModuleNotFoundError as error:
            if lacking is None or error.name is None or error.name.startswith("repoassay"):
                raise
            raise lacking(error.name.partition(".")[0]) from None
        value = getattr(sys.modules[home], name_there)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(read_homes())


def guarded_imports(module: ModuleType) -> dict[str, tuple[str, str]]:
    """What a package imports for type checkers: by its name here, the module it comes from and its name there.

    Neither `ast` nor `re` is imported for it: either costs more than reading all faces. Formatting keeps one shape.
    """
    source: str = module.__loader__.get_data(module.__file__).decode()  # type: ignore[union-attr]  # ours have both
    below = source.partition("\nif TYPE_CHECKING:\n")[2].splitlines()
    end = next((number for number, line in enumerate(below) if line[:1].strip()), None)
    found = {}
    for statement in "\n".join(below[:end]).split("    from ")[1:]:
        home, _, names = statement.partition(" import ")
        names = names[1:].partition(")")[0] if names.startswith("(") else names.partition("\n")[0]
        for each in names.split(","):
            name_there, _, name = each.strip().partition(" as ")
            found[name or name_there] = (home, name_there)
    found.pop("", None)  # what follows a last comma
    return found
