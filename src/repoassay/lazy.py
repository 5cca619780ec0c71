"""Faces of packages: the public names of a package, each imported from its module when it is first used.

Importing a package then costs nothing but a table, so that every room may be imported through its face, whatever the
rest of the room needs.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["attach"]


def attach(
    package: str, homes: Mapping[str, tuple[str, ...]], lacking: Callable[[str], Exception] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package (PEP 562).

    Args:
        package: Its `__name__`.
        homes: The public names that each of its modules defines.
        lacking: Makes the error that names the extra, of a foreign package its modules import and that is not there.
    """
    modules = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def get(name: str) -> object:
        try:
            home = modules[name]
        except KeyError:
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
        try:
            __import__(home)  # the built-in: importing importlib would be most of what a face costs
        except ModuleNotFoundError as error:
            if lacking is None or error.name is None or error.name.startswith("repoassay"):
                raise
            raise lacking(error.name.partition(".")[0]) from None
        value = getattr(sys.modules[home], name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(modules), sorted(modules)
