"""Posting reviews to a forge: a plan of requests first, each sent once, also when it was interrupted half-way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from repoassay.forges.forge_client import ForgeAddress, ForgeClient, ForgeRefused
from repoassay.forges.github_review import GithubReview
from repoassay.forges.review_request import ReviewRequest
from repoassay.review import begin_posting, drop_posting, finish_posting, postings_of

if TYPE_CHECKING:
    from repoassay.db import Database

__all__ = ["ForgePost", "PostState", "plan_posts", "post_planned"]


class PostState(StrEnum):
    """What is to be done with a request: sent; looked for first, since it was begun; nothing, since it is there; or
    nothing, since what was said changed after it had been posted.
    """

    NEW = "to be posted"
    BEGUN = "begun before; posted if the forge does not have it"
    POSTED = "posted already"
    CHANGED = "changed since it was posted; left alone"


@dataclass(frozen=True, slots=True)
class ForgePost:
    """One request about an item: below which path of the repository, its body, and what is to be done with it."""

    item: str
    number: int
    kind: str
    path: str
    body: dict[str, Any]
    state: PostState = PostState.NEW

    @property
    def digest(self) -> str:
        """SHA-256 of where it goes and what it says."""
        return hashlib.sha256(json.dumps([self.path, self.body], sort_keys=True).encode()).hexdigest()


def plan_posts(
    database: Database, study: str, requests: Sequence[ReviewRequest], address: ForgeAddress
) -> tuple[ForgePost, ...]:
    """Return what would be posted. Only pull requests of the address are taken: exports do not say where tokens go.

    Args:
        database: Knows what was posted before.
        study: Whose reviews they are.
        requests: The reviews.
        address: The repository they are for.
    """
    known = postings_of(database, study)
    state = {(each.item, each.digest): each for each in known}
    settled = {each.item for each in known if each.kind in {"review", "note"}}
    planned = []
    for request in requests:
        if (request.forge, request.repository.lower()) != (address.forge, address.repository.lower()):
            continue
        posts = [_in_repository(address, post) for post in _posts(request)]
        # The first request carries the text: where another text was sent before, the review is another by now.
        changed = request.item in settled and (request.item, posts[0].digest) not in state
        for post in posts:
            before = state.get((post.item, post.digest))
            found = PostState.NEW if before is None else PostState.POSTED if before.posted else PostState.BEGUN
            planned.append(_in_state(post, PostState.CHANGED if changed else found))
    return tuple(planned)


def post_planned(
    database: Database, study: str, posts: Sequence[ForgePost], client: ForgeClient, tell: Callable[[str], None]
) -> tuple[int, int]:
    """Send what is to be sent, and return how many requests were posted and how many the forge refused.

    What the forge refuses of one pull request is told, and its other requests are left; the next ones go on. When the
    forge cannot be reached everything stops, and the next call goes on from there.

    Args:
        database: Notes each request before and after it.
        study: Whose reviews they are.
        posts: As `plan_posts` made it.
        client: For the same address.
        tell: Told a sentence of each refusal.

    Raises:
        InfraFault: The forge does not answer.
        Unavailable: Its limit is reached for long.
    """
    done = refused = 0
    passed_over = set[str]()
    by = f"{client.address.forge}:{client.address.repository}"[:64]
    for post in posts:
        if post.item in passed_over or post.state in {PostState.POSTED, PostState.CHANGED}:
            continue
        if post.state is PostState.NEW or not _is_there(client, post):
            begin_posting(database, study, post.item, post.digest, post.kind, datetime.now(UTC))
            try:
                client.send(post.path, post.body)
            except ForgeRefused as error:
                if error.status < 500:
                    drop_posting(database, study, post.item, post.digest)
                tell(f"{client.address.repository}, pull request {post.number}: {error.message}")
                passed_over.add(post.item)
                refused += 1
                continue
            done += 1
        finish_posting(database, study, post.item, post.digest, datetime.now(UTC), by)
    return done, refused


def _posts(request: ReviewRequest) -> Iterator[ForgePost]:
    """The requests of a review, the one with its text first."""
    if isinstance(request.review, GithubReview):
        body = request.review.model_dump(mode="json", exclude_none=True)
        yield ForgePost(request.item, request.number, "review", f"/pulls/{request.number}/reviews", body)
        return
    below = f"/merge_requests/{request.number}"
    bodies = request.review.model_dump(mode="json", exclude_none=True)
    yield ForgePost(request.item, request.number, "note", f"{below}/notes", bodies["note"])
    for thread in bodies["discussions"]:
        yield ForgePost(request.item, request.number, "thread", f"{below}/discussions", thread)
    if "approval" in bodies:
        yield ForgePost(request.item, request.number, "approval", f"{below}/approve", bodies["approval"])


def _in_repository(address: ForgeAddress, post: ForgePost) -> ForgePost:
    return ForgePost(post.item, post.number, post.kind, address.path + post.path, post.body)


def _in_state(post: ForgePost, state: PostState) -> ForgePost:
    return ForgePost(post.item, post.number, post.kind, post.path, post.body, state)


def _is_there(client: ForgeClient, post: ForgePost) -> bool:
    """Whether the forge has what was begun before, told by its text and its place."""
    if post.kind == "approval":
        found = client.ask(f"{post.path.removesuffix('/approve')}/approvals")
        return isinstance(found, dict) and found.get("user_has_approved") is True
    if post.kind == "review":
        return any(_same(entry, post.body) for entry in client.pages(post.path))
    threads = client.pages(f"{post.path.rpartition('/')[0]}/discussions")
    return any(_same(note, post.body) for thread in threads for note in _notes(thread))


def _notes(thread: object) -> list[Any]:
    notes = thread.get("notes") if isinstance(thread, dict) else None
    return notes if isinstance(notes, list) else []


def _same(entry: object, body: dict[str, Any]) -> bool:
    """Whether an entry of the forge says the same at the same place; forges change white space."""
    if not isinstance(entry, dict) or str(entry.get("body")).split() != body["body"].split():
        return False
    place = ("old_path", "new_path", "old_line", "new_line")
    mine, theirs = body.get("position") or {}, entry.get("position") or {}
    return isinstance(theirs, dict) and all(mine.get(name) == theirs.get(name) for name in place if name in mine)
