"""The hidden tests of a SWE-bench row, where its test patch holds them whole."""

from __future__ import annotations

from collections.abc import Sequence

from repoassay.diffs import ChangeKind, PatchError, read_patch
from repoassay.errors import BadInput
from repoassay.text import join_names, quote

__all__ = ["new_test_files"]

_REMEDY = "Only rows whose tests are new files can be converted; others need the test patch applied when graded."


def new_test_files(test_patch: str, ids: Sequence[str]) -> dict[str, bytes]:
    """Return the files that a test patch makes: path -> content.

    Args:
        test_patch: Unified diff, read strictly.
        ids: Tests that must be in these files, `FILE::NAME`.

    Raises:
        BadInput: When the patch changes files that exist, or a test is in none of the new ones. The sentence has the
            row as its subject.
    """
    try:
        patch = read_patch(test_patch.encode("utf-8", "surrogatepass"))
    except PatchError as error:
        raise BadInput(f"its test_patch cannot be read: {error}") from error
    made: dict[str, bytes] = {}
    for file in patch.files:
        fresh = file.kind is ChangeKind.CREATE or file.may_create
        if not fresh or file.binary is not None or file.path in made:
            raise BadInput(f"its test_patch does not make {quote(file.path)} anew as text.", _REMEDY)
        made[file.path] = b"".join(hunk.new for hunk in file.hunks)
    strange = [test for test in ids if test.partition("::")[0] not in made or not test.partition("::")[2]]
    if strange:
        raise BadInput(f"its tests {join_names(strange, 3)} are not in the files that its test_patch makes.", _REMEDY)
    return made
