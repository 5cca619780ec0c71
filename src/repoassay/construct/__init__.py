"""Tasks made of commits, each with proof: its tests fail at the base, pass at the solution, and do so every time.

Knows tasks, the workspace, grading and how tasks are validated. Must not know the command line or reports. The
repository a task is made of is hostile: it is copied over git's own protocol into one of ours, and only that is read.
"""

from __future__ import annotations

from repoassay.construct.asked import Asked, Proposal
from repoassay.construct.commit import Constructed, construct_commit
from repoassay.construct.prove import Case, Finding, Proven, Role

__all__ = ["Asked", "Case", "Constructed", "Finding", "Proposal", "Proven", "Role", "construct_commit"]
