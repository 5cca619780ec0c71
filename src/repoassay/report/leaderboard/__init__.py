"""A leaderboard as a static site, and the folders in which runs are handed in: packed, validated, shown.

Reads run folders through `repoassay.records` and the rows of reports. A validator recomputes every figure from the
attempts; docs/leaderboard.md says what it cannot know without grading again.
"""

from __future__ import annotations

from repoassay.report.leaderboard.bundle import pack
from repoassay.report.leaderboard.entry import Declarations, EntryRefusal, LeaderboardEntry, read_submitted
from repoassay.report.leaderboard.figures import FIGURES_SCHEMA, figures_of
from repoassay.report.leaderboard.regrade import regrade
from repoassay.report.leaderboard.site import RankedEntry, build_site, rows_of
from repoassay.report.leaderboard.validate import Validated, validate

__all__ = [
    "FIGURES_SCHEMA",
    "Declarations",
    "EntryRefusal",
    "LeaderboardEntry",
    "RankedEntry",
    "Validated",
    "build_site",
    "figures_of",
    "pack",
    "read_submitted",
    "regrade",
    "rows_of",
    "validate",
]
