"""What a row's test program is asked to run: the tests that its test patch touches, as SWE-bench chooses them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repoassay.diffs import ChangeKind, PatchError, read_patch
from repoassay.errors import BadInput

__all__ = ["directives"]

_DATA = (".json", ".png", "csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml")
_PLAIN = re.compile(r"[\w][\w./+-]*\.\w+")


def directives(test_patch: str, reader: str, ids: Sequence[str]) -> tuple[str, ...]:
    """Return files, or Django's labels of modules, each once.

    SWE-bench gives its program every path of the test patch that ends on nothing known to be data. Of those we give
    it what is Python or what a test is named after, since pytest refuses the whole call for one path that holds no
    tests; and files that tests are named after, although the patch does not touch them.

    Args:
        test_patch: Unified diff, read strictly.
        reader: The test program.
        ids: The tests that are wanted.

    Raises:
        BadInput: When the patch cannot be read, or there are none; the sentence has the row as its subject.
    """
    try:
        patch = read_patch(test_patch.encode("utf-8", "surrogatepass"))
    except PatchError as error:
        raise BadInput(f"its test_patch cannot be read: {error}") from error
    named = {name.partition("::")[0] for name in ids if "::" in name}
    touched = [file.path for file in patch.files if file.kind is not ChangeKind.DELETE]
    chosen = [path for path in touched if not path.endswith(_DATA) and (path.endswith(".py") or path in named)]
    if reader == "pytest":
        chosen += sorted(name for name in named if _PLAIN.fullmatch(name))
    if reader == "django":
        chosen = [path.removesuffix(".py").removeprefix("tests/").replace("/", ".") for path in chosen]
    if not chosen:
        raise BadInput("its test_patch touches no file of tests.", "Check its test_patch.")
    return tuple(dict.fromkeys(chosen))
