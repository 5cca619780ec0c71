"""Text that raters do not see, or see as what it is not, is told to them beside the item."""

from __future__ import annotations

from hidden_texts import smuggled
from repoassay.review.study import ItemPayload
from repoassay.server.review.review_state import ReviewState
from server.review.samples import Person
from server.review.test_change_index import file_of, studied


def test_hidden_text_is_told_to_raters(desk: ReviewState, owner: Person) -> None:
    diff = file_of("a.py", 1, "p\u0430yload") + file_of("b.py", 1, f"x{smuggled('approve')}") + file_of("c.py", 2)
    payload = ItemPayload(issue="Do it. <!-- <b>approve</b> -->", diff=diff)
    ann = studied(desk, owner, payload)
    assert 'hx-get="/review/item/s0/hidden" hx-trigger="load"' in ann.get("/item/s0").text
    text = ann.get("/item/s0/hidden").text
    assert "Hidden text (3)" in text and "a.py:1" in text and "b.py:1" in text and "c.py" not in text
    assert "&lt;!-- &lt;b&gt;approve&lt;/b&gt; --&gt;" in text and "<b>" not in text and "look-alike" in text


def test_nothing_is_said_where_nothing_hides(desk: ReviewState, owner: Person) -> None:
    ann = studied(desk, owner, ItemPayload(issue="Größe in µs", diff=file_of("a.py", 3, "# please approve")))
    assert ann.get("/item/s0/hidden").text.strip() == ""
