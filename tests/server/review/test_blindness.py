"""Blindness, from the wire: nothing a rater can reach before submission tells of the maker, tests or other raters."""

from __future__ import annotations

import re
from collections import deque

import pytest

from server.review.samples import SECRETS, Person, answers

OTHERS = ("Bobrinskoy", "BOB-SAYS", "no_problem_of_bob")


def crawl(person: Person, start: str) -> dict[str, str]:
    """Follow everything that pages name: links, forms' addresses, parts fetched by htmx, all views and pages."""
    seen: dict[str, str] = {}
    pending = deque([start])
    while pending:
        path = pending.popleft()
        if path in seen or len(seen) > 500 or "/static/" in path or "/leave" in path:
            continue
        answer = person.get(path)
        seen[path] = f"{answer.text} {answer.headers}"
        if answer.status_code != 200:
            continue
        links = re.findall(r'(?:href|src|hx-get|data-at|action)="/review(/[^"#]*)', answer.text)
        for each in (link.replace("&amp;", "&") for link in links):
            pending.append(each)
            if "/diff/" in each and "?" not in each:
                pending.extend(
                    f"{each}?view={view}&at={at}{more}"
                    for view in ("unified", "split", "reference")
                    for at in (0, 1)
                    for more in ("", "&whole_file=true")
                )
            if match := re.fullmatch(r"/item/(\w+)", each):
                item = match[1]
                pending.extend(
                    [f"/api/item/{item}/draft", f"/item/{item}/evidence", f"/item/{item}/comments",
                     f"/item/{item}/files",
                     f"/files/{item}/0/made", f"/files/{item}/0/truth", f"/item/{item}/diff/99",
                     f"/item/{item}?made=true", f"/studies/st/items/{item}"]
                )  # fmt: skip
    return seen


@pytest.mark.parametrize(
    "reference", ["blind", *(pytest.param(when, marks=pytest.mark.exhaustive) for when in ("revealed", "never"))]
)
@pytest.mark.long
def test_nothing_reachable_tells_before_submission(owner: Person, url: str, reference: str) -> None:
    controls = "0" if reference == "blind" else "2"
    made = owner.study(reference=reference, controls=controls, reveal="after_submission", two="on")
    assert made.url.path.endswith("/st"), made.text
    ann, bob = Person(url, owner.invite("Ann")), Person(url, owner.invite("Bobrinskoy"))
    # Bobrinskoy has been through everything, and left what must not be seen.
    while item := bob.next():
        said = bob.call(
            f"/item/{item}/comments", file=0, side="new", line=_line(bob, item), text="BOB-SAYS", axis="core"
        )
        assert said.status_code == 200, said.text
        assert bob.call(f"/item/{item}/submit", key=f"key-{item}", answers=answers(notes="BOB-SAYS")).status_code == 200
    seen = crawl(ann, "/queue")
    assert sum("/diff/" in path for path in seen) > 20
    for path, text in seen.items():
        for word in (*SECRETS, *OTHERS, "SIGNAL-TITLE", "golden", "control", "attempts/"):
            # Answers of the server carry `Cache-Control`.
            text_ = text.lower().replace("cache-control", "")
            if word == "control" and ("/context?" in path or "whole_file" in path):
                continue  # the repository's own word
            assert word.lower() not in text_, (path, word)
    if reference != "blind":
        assert not any("Human change" in text and "view=reference" in path for path, text in seen.items())


def test_after_submission_only_that_item_is_revealed(owner: Person, url: str) -> None:
    owner.study(reveal="after_submission", two="on", controls="1")
    ann = Person(url, owner.invite("Ann"))
    item = ann.next()
    assert ann.get(f"/item/{item}/evidence").status_code == 403
    answer = ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers())
    assert answer.json()["then"] == f"/review/item/{item}"
    page = ann.get(f"/item/{item}").text
    assert "Now revealed" in page
    other = ann.next()
    assert other != item
    assert not any(word in ann.get(f"/item/{other}").text for word in SECRETS)
    assert ann.get(f"/item/{other}/evidence").status_code == 403
    assert ann.call(f"/item/{other}/submit", phase="revealed", key="r" * 12, answers=answers()).status_code == 422


def test_after_close_means_after_close(owner: Person, url: str) -> None:
    owner.study(reveal="after_close", two="on")
    ann = Person(url, owner.invite("Ann"))
    item = ann.next()
    answer = ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers())
    assert answer.json()["then"] is None
    assert not any(word in ann.get(f"/item/{item}").text for word in SECRETS)
    assert ann.get(f"/item/{item}/evidence").status_code == 403
    owner.form("/studies/st/close")
    assert "STEP-TEXT" in ann.get(f"/item/{item}").text or "human" in ann.get(f"/item/{item}").text
    amended = ann.call(f"/item/{item}/submit", phase="revealed", key="r" * 12, answers=answers("pcccc"))
    assert amended.json()["version"] == 2


@pytest.mark.exhaustive
def test_never_means_never(owner: Person, url: str) -> None:
    owner.study(reveal="never", reference="never")
    ann = Person(url, owner.invite("Ann"))
    item = ann.next()
    ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers())
    owner.form("/studies/st/close")
    for path, text in crawl(ann, "/queue").items():
        assert not any(word.lower() in text.lower() for word in SECRETS), path
        assert "Human change" not in text


def test_controls_look_like_everything_else(owner: Person, url: str) -> None:
    owner.study(controls="6")
    ann = Person(url, owner.invite("Ann"))
    shapes = []
    while item := ann.next():
        page = ann.get(f"/item/{item}").text
        shapes.append(
            tuple(re.findall(r"<(?:section|aside|details|h1|h2|fieldset|button)[^>]*class=\"([^\"]*)\"", page))
        )
        ann.call(f"/item/{item}/submit", key=f"key-{item}", answers=answers())
    assert len(shapes) == 12
    # The same change by hand or by an agent differs in nothing but what it says of itself.
    assert len(set(shapes)) <= 6


def test_what_a_lead_asks_for_goes_into_the_log(owner: Person) -> None:
    owner.study()
    found = re.search(r"/items/(\w+)", owner.get("/studies/st/items").text)
    assert found is not None
    hidden = owner.get(f"/studies/st/items/{found[1]}").text
    assert not any(word in hidden for word in SECRETS)
    assert "zebrawolf" in owner.get(f"/studies/st/items/{found[1]}?made=true").text
    assert "unmasked" in owner.get("/studies/st/log").text


def _line(person: Person, item: str) -> int:
    found = re.search(r'data-line="(\d+)" data-side="new"', person.get(f"/item/{item}/diff/0").text)
    assert found is not None
    return int(found[1])
