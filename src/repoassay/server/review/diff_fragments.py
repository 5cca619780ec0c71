"""Fragments of a diff for the page that asks: one page of one file, in one of three views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi.responses import HTMLResponse

from repoassay.diffs import FileDiff
from repoassay.review import Comment
from repoassay.server.review.auth import HTTPDenied
from repoassay.server.review.pages import page
from repoassay.server.review.review_state import ReviewState, ShownItem
from repoassay.server.review.rows import page_of, pages

__all__ = ["VIEWS", "diff_page", "file_list", "find_file"]

VIEWS = ("unified", "split", "reference")
FILES = 150
"""Files whose places come at once; the others wait in places of so many, and come where the reader goes."""


def find_file(shown: ShownItem, number: int) -> FileDiff | None:
    """Return a file by its number in the page; those that only the human changed follow the submission's."""
    every = (*shown.files, *shown.extra)
    return every[number] if 0 <= number < len(every) else None


def file_list(shown: ShownItem, start: int, base: str) -> dict[str, Any]:
    """What the template `files.html` needs to place the files from `start` on."""
    every = (*shown.files, *shown.extra)
    some = [(start + number, file) for number, file in enumerate(every[start : start + FILES])]
    chunks = range(FILES, len(every), FILES) if start == 0 else ()
    return {"files": some, "count": len(shown.files), "chunks": chunks, "chunk": FILES, "base": base}


def diff_page(
    desk: ReviewState,
    shown: ShownItem,
    number: int,
    view: str,
    at: int,
    base: str,
    comments: Sequence[Comment] = (),
    *,
    own: bool = False,
) -> HTMLResponse:
    """Return rows of one file.

    Args:
        desk: Keeps pages that were made, for the next rater of the same item.
        shown: The item.
        number: Of the file, as in `find_file`.
        view: One of `VIEWS`; `reference` sets the human's change of the same file beside the submission's.
        at: Which page of rows, from 0.
        base: Path of the item's fragments, for the next page.
        comments: To put below their lines.
        own: Whether they are the reader's own, to be taken back.

    Raises:
        Denied: When there is no such file or view.
    """
    file = find_file(shown, number)
    if file is None or view not in VIEWS or (view == "reference" and not shown.reference):
        raise HTTPDenied(404, "There is no such part of the change.")
    here = [comment for comment in comments if comment.anchor.path == file.path]
    key = (id(shown), base, number, view, at)
    if not here and (kept := desk.pages.get(key)) is not None and kept[0] is shown:
        return HTMLResponse(kept[1])
    values: dict[str, Any] = {"file": file, "number": number, "view": view, "at": at, "base": base}
    if view == "reference":
        # A file only the human changed has nothing on the submission's side.
        mine = file if number < len(shown.files) else None
        theirs = shown.reference.get(file.path)
        count = max(pages(mine) if mine else 1, pages(theirs) if theirs else 1)
        values |= {
            "mine": page_of(mine, at, split=False) if mine else None,
            "theirs": page_of(theirs, at, split=False) if theirs else None,
        }
    else:
        count = pages(file)
        values["lines"] = page_of(file, at, split=view == "split")
    below: dict[str, list[Comment]] = {}
    if number < len(shown.files):
        for comment in here:
            below.setdefault(f"{comment.anchor.side[0]}{comment.anchor.end_line}", []).append(comment)
    made = page("rows.html", **values, more=at + 1 if at + 1 < count else None, comments=below, mine_only=own)
    if not here:
        desk.pages.put(key, (shown, bytes(made.body)))
    return made
