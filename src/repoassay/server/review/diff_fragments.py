"""Fragments of a diff for the page that asks: one page of one file, in one of three views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fastapi.responses import HTMLResponse

from repoassay.diffs import FileDiff
from repoassay.review import Comment
from repoassay.server.review.auth import HTTPDenied
from repoassay.server.review.context_lines import (
    STEP,
    ContextGap,
    context_gaps,
    gap_rows,
    lines_before,
    with_gaps_filled,
)
from repoassay.server.review.outputs import opened_as, shown_of, version_of
from repoassay.server.review.pages import page
from repoassay.server.review.review_state import ReviewState, ShownItem
from repoassay.server.review.rows import DiffLine, lines_of, page_of, pages

__all__ = ["VIEWS", "context_page", "diff_page", "file_list", "find_file", "version_page"]

VIEWS = ("unified", "split", "reference")
_MOST_GAP = 2000
"""Lines of a gap that come at once."""
FILES = 150
"""Files whose places come at once; the others wait in places of so many, and come where the reader goes."""


def find_file(shown: ShownItem, number: int) -> FileDiff | None:
    """Return a file by its number in the page; those that only the human changed follow the submission's."""
    every = (*shown.files, *shown.extra)
    return every[number] if 0 <= number < len(every) else None


def file_list(shown: ShownItem, start: int, base: str) -> dict[str, Any]:
    """What the template `files.html` needs to place the files from `start` on."""
    every = (*shown.files, *shown.extra)
    some = [(number, every[number]) for number in shown.order[start : start + FILES]]
    chunks = range(FILES, len(every), FILES) if start == 0 else ()
    wholes = {each.path for each in shown.payload.versions if each.before is not None}
    opened = {
        each.path for each in shown.payload.versions if opened_as(each.path) and (each.before or each.after)
    }  # fmt: skip
    return {
        "files": some, "count": len(shown.files), "chunks": chunks, "chunk": FILES, "base": base, "wholes": wholes,
        "start": start, "generated": shown.generated, "opened": opened,
    }  # fmt: skip


def version_page(desk: ReviewState, item: ShownItem, number: int, base: str) -> HTMLResponse:
    """Return a changed picture, document or notebook before and after, as a sandbox opened it.

    Raises:
        HTTPDenied: When the file is none of these, or is not kept.
    """
    output, only = version_of(item, number)
    (each,) = shown_of(desk, (output,))
    again, source = f"{base}/versions/{number}", f"{base}/versions"
    return page("versions.html", each=replace(each, number=number), again=again, source=source, only=only)


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
    whole_file: bool = False,
    jump: bool = False,
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
        whole_file: Show the lines between hunks too, where the file is at hand.
        jump: The page stands alone: a button leads to the one before.

    Raises:
        HTTPDenied: When there is no such file or view.
    """
    file = find_file(shown, number)
    if file is None or view not in VIEWS or (view == "reference" and not shown.reference):
        raise HTTPDenied(404, "There is no such part of the change.")
    here = [comment for comment in comments if comment.anchor.path == file.path]
    key = (id(shown), base, number, view, at, whole_file, jump)
    if not here and (kept := desk.pages.get(key)) is not None and kept[0] is shown:
        return HTMLResponse(kept[1])
    values: dict[str, Any] = {"file": file, "number": number, "view": view, "at": at, "base": base}
    values |= {"before": at - 1 if jump and at else None}
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
        lines = lines_before(desk.blobs, shown, file)
        full = with_gaps_filled(file, lines) if whole_file and lines is not None else file
        between = context_gaps(file, lines) if lines is not None and not whole_file else ()
        count = pages(full)
        values["lines"] = page_of(full, at, split=view == "split", between=between)
    below: dict[str, list[Comment]] = {}
    if number < len(shown.files):
        for comment in here:
            below.setdefault(f"{comment.anchor.side[0]}{comment.anchor.end_line}", []).append(comment)
    response = page("rows.html", **values, more=at + 1 if at + 1 < count else None, comments=below, mine_only=own)
    if not here:
        desk.pages.put(key, (shown, bytes(response.body)))
    return response


def context_page(
    desk: ReviewState, item: ShownItem, number: int, view: str, base: str, gap: ContextGap, take: str
) -> HTMLResponse:
    """Return lines of a gap, with what is left of it.

    Args:
        desk: Has the file as it was.
        item: The item.
        number: Of the file, as in `find_file`.
        view: `unified` or `split`.
        base: Path of the item's fragments.
        gap: As the page has it.
        take: `down` for lines below the hunk above, `up` for those above the next one, `all` for everything.

    Raises:
        HTTPDenied: When there is no such file, view or line.
    """
    file = find_file(item, number)
    lines = None if file is None else lines_before(desk.blobs, item, file)
    if file is None or lines is None or view not in VIEWS or take not in ("up", "down", "all"):
        raise HTTPDenied(404, "There is no such part of the change.")
    if gap.old + gap.count > len(lines) + 1:
        raise HTTPDenied(404, "The file does not have these lines.")
    few = min(gap.count, _MOST_GAP if take == "all" else STEP)
    rest = gap.count - few
    open_now = ContextGap(gap.old + rest, gap.new + rest, few) if take == "up" else ContextGap(gap.old, gap.new, few)
    left = ContextGap(gap.old, gap.new, rest) if take == "up" else ContextGap(gap.old + few, gap.new + few, rest)
    found = lines_of(file.path, gap_rows(open_now, lines), split=view == "split")
    if rest:
        still = DiffLine(gap=left)
        found = [still, *found] if take == "up" else [*found, still]
    values = {"file": file, "number": number, "view": view, "at": 0, "base": base, "lines": found, "comments": {}}
    return page("context.html", **values, mine_only=False)
