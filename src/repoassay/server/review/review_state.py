"""What every request works with: the database, files, runs that may become studies, and what was parsed already."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from repoassay.db import Database
from repoassay.diffs import FileDiff
from repoassay.review import BUNDLED, ItemPayload, payload_of, rater_view, read_rubric_of, study_of
from repoassay.server.review.blobs import Blobs
from repoassay.server.review.diff import is_generated, parse_diff
from repoassay.server.review.oidc import IdentityProvider
from repoassay.server.review.previews import Previews

__all__ = ["Pages", "ReviewState", "ShownItem"]

_PAGES = 2000
_CACHED = 48 * 2**20
"""Characters of diffs that stay parsed; a row takes some ten times its text."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item's payload with its diffs parsed.

    `extra` are files that only the human's change has; their numbers follow. `generated` are the numbers of generated
    and vendored files, which come last in `order`.
    """

    payload: ItemPayload
    files: tuple[FileDiff, ...]
    reference: dict[str, FileDiff]
    extra: tuple[FileDiff, ...]
    generated: frozenset[int]
    order: tuple[int, ...]

    @property
    def changed(self) -> int:
        """Lines added and deleted."""
        return sum(file.additions + file.deletions for file in self.files)


class Pages:
    """The last pages of rows that were made, by what they show. Pages are bounded, and so is how many are kept."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[object, ...], tuple[ShownItem, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[object, ...]) -> tuple[ShownItem, bytes] | None:
        """Return a page with what it was made of."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
            return self._made.get(key)

    def put(self, key: tuple[object, ...], page: tuple[ShownItem, bytes]) -> None:
        """Keep a page."""
        with self._lock:
            self._made[key] = page
            while len(self._made) > _PAGES:
                self._made.popitem(last=False)


def _now() -> datetime:
    return datetime.now(UTC)


class ReviewState:
    """The state of one application.

    Args:
        database: Where everything is kept.
        blobs: Files of submissions.
        owner: Token of the owner's link; anybody who holds it may do everything. Empty for no owner.
        runs: Run folders that studies may be made of.
        rubrics: Bundled names and paths of rubrics offered.
        hosts: Host names, without port, that requests may use; empty for any.
        secure: Whether cookies are for HTTPS alone.
        clock: The time.
        previews: Of these files; made in a sandbox of this machine when none are given.
        provider: Asked who came with an invitation; None: whoever has the link is believed.
    """

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        *,
        owner: str = "",
        runs: Sequence[Path] = (),
        rubrics: Sequence[str] = BUNDLED,
        hosts: frozenset[str] = frozenset(),
        secure: bool = False,
        clock: Callable[[], datetime] = _now,
        previews: Previews | None = None,
        provider: IdentityProvider | None = None,
    ) -> None:
        self.database = database
        self.blobs = blobs
        self.previews = previews or Previews(blobs)
        self.provider = provider
        self.runs = tuple(runs)
        self.rubrics = tuple(rubrics)
        self.hosts = hosts
        self.secure = secure
        self.now = clock
        self._owner = hashlib.sha256(owner.encode()).digest() if owner else b""
        self._shown: OrderedDict[tuple[str, str, bool], ShownItem] = OrderedDict()
        self._held = 0
        self._lock = threading.Lock()
        self.pages = Pages()
        self._figures: dict[str, tuple[object, object]] = {}

    def owns(self, token: str) -> bool:
        """Whether a token is the owner's."""
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        return bool(self._owner) and hmac.compare_digest(digest, self._owner)

    def shown(self, study: str, item: str, *, blind: bool = True) -> ShownItem:
        """Return what may be seen of an item; it never changes, so it is parsed once.

        Args:
            study: Its study.
            item: Its opaque name.
            blind: Whether it is for a rater who has not submitted; then the human's change is there only where the
                study shows it while rating.

        Raises:
            BadInput: When there is no such item.
        """
        key = (study, item, blind)
        with self._lock:
            if (found := self._shown.get(key)) is not None:
                self._shown.move_to_end(key)
                return found
        payload = payload_of(self.database, study, item)
        settings = study_of(self.database, study)
        if blind:
            payload = rater_view(item, payload, read_rubric_of(self.database, study), settings, 1, 1).payload
        elif settings.reference == "never":
            payload = payload.model_copy(update={"reference": None})
        files = parse_diff(payload.diff)
        reference = {file.path: file for file in parse_diff(payload.reference or "")}
        known = {file.path for file in files}
        extra = tuple(file for path, file in reference.items() if path not in known)
        marked = {each.path for each in payload.versions if each.generated}
        generated = frozenset(file.number for file in files if file.path in marked or is_generated(file.path))
        order = sorted(range(len(files) + len(extra)), key=lambda number: (number >= len(files), number in generated))
        item_view = ShownItem(payload, files, reference, extra, generated, tuple(order))
        with self._lock:
            if key not in self._shown:
                self._shown[key] = item_view
                self._held += _size(item_view)
            while self._held > _CACHED and len(self._shown) > 1:
                self._held -= _size(self._shown.popitem(last=False)[1])
        return item_view

    def cached(self, name: str, state: object, make: Callable[[], object]) -> object:
        """Return what `make` made last under this name if the state is the same, else make it."""
        with self._lock:
            if name in self._figures and self._figures[name][0] == state:
                return self._figures[name][1]
        value = make()
        with self._lock:
            self._figures[name] = (state, value)
        return value


def _size(shown: ShownItem) -> int:
    rows = sum(len(file.rows) for file in (*shown.files, *shown.reference.values()))
    return len(shown.payload.diff) + len(shown.payload.reference or "") + 10 * rows + 10_000
