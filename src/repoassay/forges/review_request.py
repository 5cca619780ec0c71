"""A review request: what one rated pull request of a study gets on its forge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from repoassay.forges.github_review import GithubReview, github_review
from repoassay.forges.gitlab_review import GitlabReview, gitlab_review
from repoassay.forges.review_text import review_text
from repoassay.review import Item, comments_on, items_of, latest, ratings_of, read_rubric_of

if TYPE_CHECKING:
    from repoassay.db import Database

__all__ = ["ReviewRequest", "forge_items", "review_requests"]


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """The review of one pull request; `item` is its opaque name in the study."""

    item: str
    forge: str
    repository: str
    number: int
    review: GithubReview | GitlabReview

    def document(self) -> dict[str, Any]:
        """Return it as a JSON value: where it goes, and the bodies of its requests by their names."""
        body = self.review.model_dump(mode="json", exclude_none=True)
        place = {"forge": self.forge, "repository": self.repository, "number": self.number}
        return place | ({"review": body} if isinstance(self.review, GithubReview) else body)


def forge_items(database: Database, study: str) -> tuple[Item, ...]:
    """Return the items of a study that are pull requests of a forge; `evidence["forge"]` is a mapping in each.

    Raises:
        BadInput: When there is no such study.
    """
    return tuple(item for item in items_of(database, study) if isinstance(item.hidden.evidence.get("forge"), dict))


def review_requests(database: Database, study: str, *, comment_only: bool = False) -> Iterator[ReviewRequest]:
    """Yield the review of each pull request of a study that people rated; judges and other items are left out.

    Args:
        database: Where the study is.
        study: Its name.
        comment_only: Say the verdict in words alone, since an approval may let a forge merge by itself.

    Raises:
        BadInput: When there is no such study.
    """
    rubric, ratings = read_rubric_of(database, study), latest(ratings_of(database, study))
    for item in forge_items(database, study):
        forge = item.hidden.evidence["forge"]
        mine = [rating for rating in ratings if rating.submission == item.id]
        if not mine:
            continue
        raters = {rating.rater for rating in mine}
        comments = [each for each in comments_on(database, study, item.id) if each.rater in raters]
        text = review_text(item.payload, rubric, mine, comments, forge)
        if comment_only:
            text = replace(text, verdict=None)
        base, start, head = (str(forge.get(name) or "") for name in ("base", "start", "head"))
        gitlab = forge.get("kind") == "gitlab"
        review = gitlab_review(text, base, start, head) if gitlab else github_review(text, head)
        yield ReviewRequest(item.id, str(forge["kind"]), str(forge["repository"]), int(forge["number"]), review)
