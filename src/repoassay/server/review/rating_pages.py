"""What a rater opens: the queue, an item with its form, and parts of its diff."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import RedirectResponse

from repoassay.judges import hidden_text
from repoassay.review import (
    Rater,
    comments_by,
    draft_of,
    full_items,
    hidden_of,
    instructions_of,
    is_closed,
    may_reveal,
    must_read,
    open_next,
    preparation_of,
    queue_of,
    ratings_by,
    read_rubric_of,
    release,
    repositories_to_ask,
    study_of,
    uses_of,
)
from repoassay.server.review.auth import Anyone, AsRater, Form, Here, HTTPDenied
from repoassay.server.review.change_index import ChangeIndex, search_change
from repoassay.server.review.context_lines import ContextGap
from repoassay.server.review.diff_fragments import context_page, diff_page, file_list, version_page
from repoassay.server.review.outputs import send_output, shown_of, version_of
from repoassay.server.review.pages import page
from repoassay.server.review.rater_progress import revealed_to, stand
from repoassay.server.review.reveal import evidence_of
from repoassay.server.review.review_state import ReviewState
from repoassay.types import RatingPhase

__all__ = ["router"]

router = APIRouter()
Place = Annotated[int, Query(ge=0, le=10**6)]
Wanted = Annotated[str, Query(max_length=200)]
Line = Annotated[int, Query(ge=1, le=10**9)]


@router.get("/queue")
def queue(desk: Here, rater: AsRater, viewer: Anyone) -> Response:
    """The rater's items in their own order."""
    study = study_of(desk.database, rater.study)
    line = queue_of(desk.database, rater)
    second = RatingPhase.REVEALED in study.phases
    full = full_items(desk.database, rater, desk.now())
    return page(
        "queue.html", viewer=viewer, study=study, queue=line, now=desk.now(), second=second,
        closed=is_closed(desk.database, rater.study), done=sum(each.submitted for each in line), full=full,
        typed={item for item in full if draft_of(desk.database, rater, item) is not None},
        rubric=read_rubric_of(desk.database, rater.study), preparation=preparation_of(desk.database, rater),
        uses={item: use for item, (use, _) in uses_of(desk.database, rater.study).items()},
        unread=must_read(desk.database, rater) is not None, open_reveals=_open_reveals(desk, rater) if second else (),
        has_instructions=bool(instructions_of(desk.database, rater.study)),
    )  # fmt: skip


def _open_reveals(desk: ReviewState, rater: Rater) -> tuple[str, ...]:
    """Items that are rated blind and may be confirmed or amended now, in the rater's order."""
    line = [each.item for each in queue_of(desk.database, rater) if each.submitted]
    return tuple(
        item
        for item in line
        if may_reveal(desk.database, rater, item)
        and all(rating.phase is RatingPhase.BLIND for rating in ratings_by(desk.database, rater, item))
    )


@router.post("/next")
def next_item(desk: Here, rater: AsRater, _: Form) -> Response:
    """Open the next item; before it what the rater was not told or asked yet."""
    if must_read(desk.database, rater) is not None or repositories_to_ask(desk.database, rater):
        return RedirectResponse("/review/start", 303)
    found = open_next(desk.database, rater, desk.now())
    return RedirectResponse(f"/review/item/{found.item}" if found else "/review/queue", 303)


@router.get("/item/{item}")
def show_item(desk: Here, rater: AsRater, viewer: Anyone, item: str) -> Response:
    """An item with the form; after submission with what may be revealed."""
    standing = stand(desk, rater, item, hold=True)
    blind = not standing.ratings
    shown = desk.shown(rater.study, item, blind=blind or not standing.revealed)
    base = f"/review/item/{item}"
    evidence = evidence_of(hidden_of(desk.database, rater.study, item)) if standing.revealed else None
    return page(
        "item.html", viewer=viewer, item=item, standing=standing, shown=shown, phase=standing.phase,
        of=len(queue_of(desk.database, rater)),
        rubric=read_rubric_of(desk.database, rater.study), study=study_of(desk.database, rater.study),
        comments=comments_by(desk.database, rater, item), evidence=evidence,
        outputs=shown_of(desk, shown.payload.outputs), **file_list(shown, 0, base),
        index=ChangeIndex(desk.blobs, shown), fast=min(60.0, 10.0 + 0.1 * shown.changed),
    )  # fmt: skip


@router.get("/item/{item}/outputs")
def show_outputs(desk: Here, rater: AsRater, item: str) -> Response:
    """What was delivered, while previews are being made."""
    shown = desk.shown(rater.study, item, blind=not revealed_to(desk, rater, item))
    outputs = shown_of(desk, shown.payload.outputs)
    return page("outputs.html", outputs=outputs, source=f"/review/files/{item}", again=f"/review/item/{item}/outputs")


@router.get("/item/{item}/files")
def more_files(desk: Here, rater: AsRater, item: str, start: Place = 0) -> Response:
    """Places of further files."""
    shown = desk.shown(rater.study, item, blind=not revealed_to(desk, rater, item))
    return page("files.html", **file_list(shown, start, f"/review/item/{item}"))


@router.get("/item/{item}/diff/{number}")
def show_diff(
    desk: Here, rater: AsRater, item: str, number: int, view: str = "unified", at: Place = 0, whole_file: bool = False,
    jump: bool = False,
) -> Response:  # fmt: skip
    """Rows of one file."""
    shown = desk.shown(rater.study, item, blind=not revealed_to(desk, rater, item))
    found = comments_by(desk.database, rater, item)
    return diff_page(
        desk, shown, number, view, at, f"/review/item/{item}", found, own=True, whole_file=whole_file, jump=jump
    )  # fmt: skip


@router.get("/item/{item}/diff/{number}/context")
def show_left_out(
    desk: Here, rater: AsRater, item: str, number: int, old_line: Line, new_line: Line, count: Line, take: str,
    view: str = "unified",
) -> Response:  # fmt: skip
    """Lines of one file that its diff leaves out."""
    shown = desk.shown(rater.study, item, blind=not revealed_to(desk, rater, item))
    return context_page(desk, shown, number, view, f"/review/item/{item}", ContextGap(old_line, new_line, count), take)


@router.get("/item/{item}/versions/{number}")
def show_versions(desk: Here, rater: AsRater, item: str, number: int) -> Response:
    """A changed picture, document or notebook, before and after."""
    shown = desk.shown(rater.study, item, blind=not revealed_to(desk, rater, item))
    return version_page(desk, shown, number, f"/review/item/{item}")


@router.get("/item/{item}/versions/{number}/{which}")
def send_version(desk: Here, rater: AsRater, item: str, number: int, which: str) -> Response:
    """Such a file, or a picture of it, inert."""
    shown = desk.shown(rater.study, item, blind=not revealed_to(desk, rater, item))
    return send_output(desk, version_of(shown, number)[0], which)


@router.get("/item/{item}/hidden")
def show_hidden_text(desk: Here, rater: AsRater, item: str) -> Response:
    """Text of the item that nobody sees, or sees as what it is not: asked for by the page once it is there."""
    shown = desk.shown(rater.study, item, blind=not revealed_to(desk, rater, item))
    return page("hidden.html", flags=hidden_text(shown.payload))


@router.get("/item/{item}/find")
def find_text(desk: Here, rater: AsRater, item: str, wanted: Wanted = "") -> Response:
    """Lines of the change that hold a text, those of files not loaded yet too."""
    shown = desk.shown(rater.study, item, blind=not revealed_to(desk, rater, item))
    found, more = search_change(shown, wanted) if wanted.strip() else ([], False)
    return page("found.html", wanted=wanted.strip(), found=found, more=more)


@router.get("/item/{item}/comments")
def show_comments(desk: Here, rater: AsRater, item: str) -> Response:
    """The rater's own comments."""
    shown = desk.shown(rater.study, item, blind=not revealed_to(desk, rater, item))
    found = comments_by(desk.database, rater, item)
    rubric = read_rubric_of(desk.database, rater.study)
    return page("comments.html", comments=found, rubric=rubric, own=True, index=ChangeIndex(desk.blobs, shown))


@router.post("/item/{item}/release")
def give_back(desk: Here, rater: AsRater, item: str, _: Form) -> Response:
    """Give an item back for now; the draft stays."""
    release(desk.database, rater, item, desk.now())
    return RedirectResponse("/review/queue", 303)


@router.get("/files/{item}/{number}/{which}")
def show_file(desk: Here, rater: AsRater, item: str, number: int, which: str) -> Response:
    """A delivered file or the human's one beside it, inert."""
    shown = desk.shown(rater.study, item, blind=not revealed_to(desk, rater, item))
    if not 0 <= number < len(shown.payload.outputs):
        raise HTTPDenied(404, "There is no such file.")
    return send_output(desk, shown.payload.outputs[number], which)


@router.get("/item/{item}/evidence")
def show_evidence(desk: Here, rater: AsRater, item: str) -> Response:
    """Tests, signals and steps, once they may be seen."""
    if not revealed_to(desk, rater, item):
        raise HTTPDenied(403, "This is shown after your own rating is submitted.")
    index = ChangeIndex(desk.blobs, desk.shown(rater.study, item, blind=False))
    return page("evidence.html", evidence=evidence_of(hidden_of(desk.database, rater.study, item)), index=index)
