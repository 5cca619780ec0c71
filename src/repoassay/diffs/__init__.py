"""Unified diffs: a strict reader and applier that says why a patch does not apply, and a lenient reader for views.

Knows types alone.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.diffs.apply import Changes as Changes, apply_patch as apply_patch
    from repoassay.diffs.lenient import FileDiff as FileDiff, Row as Row, read as read, walk as walk
    from repoassay.diffs.locate import Search as Search, splice as splice
    from repoassay.diffs.model import (
        Binary as Binary,
        FilePatch as FilePatch,
        Hunk as Hunk,
        Kind as Kind,
        Mode as Mode,
        Patch as Patch,
        PatchError as PatchError,
    )
    from repoassay.diffs.names import safe_path as safe_path
    from repoassay.diffs.parser import read_patch as read_patch
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "apply": ("Changes", "apply_patch"),
            "lenient": ("FileDiff", "Row", "read", "walk"),
            "locate": ("Search", "splice"),
            "model": ("Binary", "FilePatch", "Hunk", "Kind", "Mode", "Patch", "PatchError"),
            "names": ("safe_path",),
            "parser": ("read_patch",),
        },
    )
