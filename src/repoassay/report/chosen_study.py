"""What people said of merging attempts, where it was asked for: only then is a database needed, which is an extra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repoassay.errors import BadInput

if TYPE_CHECKING:
    from repoassay.report.reviewed_attempts import ReviewedAttempts

__all__ = ["named_reviews"]


def named_reviews(where: str, study: str = "") -> ReviewedAttempts | None:
    """Read what people said of merging; None without a database.

    Args:
        where: The database, as `read_reviews` takes it; empty for none.
        study: Which study; empty for the only one that asks whether to merge.

    Raises:
        BadInput: When there is no such database or study, no study asks it, or a study is named and no database.
        MissingExtra: Without the extra `review`.
    """
    if not where:
        if study:
            raise BadInput("A study is named, but no database that has it.", "Add --reviews DATABASE.")
        return None
    from repoassay.report.reviewed_attempts import read_reviews

    found = read_reviews(where, study)
    if found is None:
        raise BadInput(f"No study in {where} asks whether to merge.", "Make one with the rubric `mergeable`.")
    return found
