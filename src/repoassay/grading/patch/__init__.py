"""A submitted unified diff, read strictly and applied in process to a read-only base: no git, no shell, no writing.

The diff is hostile. What is not understood exactly is refused with a `PatchError` that says where and why; what is
applied comes back as file edits for a sandbox. Knows nothing of tasks, submissions or verdicts.
"""

from __future__ import annotations

from repoassay.grading.patch.apply import Changes, apply_patch
from repoassay.grading.patch.parts import Binary, FilePatch, Hunk, Kind, Mode, Patch, PatchError
from repoassay.grading.patch.read import read_patch

__all__ = ["Binary", "Changes", "FilePatch", "Hunk", "Kind", "Mode", "Patch", "PatchError", "apply_patch", "read_patch"]
