"""Unified diffs: a strict reader and applier that says why a patch does not apply, and a lenient reader for views.

Knows types alone. `parser` and `apply` are strict, `lenient` reads whatever is given to it.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.diffs.apply import EMPTY_FOLDER as EMPTY_FOLDER, Changes as Changes, apply_patch as apply_patch
    from repoassay.diffs.lenient import DiffRow as DiffRow, FileDiff as FileDiff, read as read, walk as walk
    from repoassay.diffs.locate import LineSearch as LineSearch, splice as splice
    from repoassay.diffs.model import (
        Binary as Binary,
        ChangeKind as ChangeKind,
        FileMode as FileMode,
        FilePatch as FilePatch,
        Hunk as Hunk,
        Patch as Patch,
        PatchError as PatchError,
    )
    from repoassay.diffs.names import is_git_name as is_git_name, safe_path as safe_path
    from repoassay.diffs.parser import read_patch as read_patch
    from repoassay.diffs.tree import Overlay as Overlay
else:
    __getattr__, __dir__ = attach(__name__)
