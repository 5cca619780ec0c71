"""In a real browser: reading a change with keys or mouse, panels and widths, and how much a rating costs a rater."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from repoassay.review.rubric import read_rubric
from repoassay.review.studies import create_study
from repoassay.review.study import FileVersions, HiddenPart, Item, ItemPayload, Study
from repoassay.server.review.review_state import ReviewState
from server.review.samples import NOW, Person
from server.review.test_browser import Open, begin, browser, contexts, enter, press, ready, serious

__all__ = ["browser", "contexts"]

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.timeout(600),
]
_LINES = [f"line_{number} = 'what line {number} of the file says'" for number in range(1, 301)]
_HUNKS = """--- a/pkg/x.py
+++ b/pkg/x.py
@@ -50,3 +50,4 @@ def somewhere():
 line_50 = 'what line 50 of the file says'
+added = 1
 line_51 = 'what line 51 of the file says'
 line_52 = 'what line 52 of the file says'
@@ -150,2 +151,3 @@
 line_150 = 'what line 150 of the file says'
+more = 2
 line_151 = 'what line 151 of the file says'
"""
_ISSUE = "# Sizes\n\nThe sizes are *wrong*:\n\n```python\nsize('1 kB')\n```\n\n- one\n- two\n\n|a|b|\n|-|-|\n|1|2|\n"


def png(colour: str) -> bytes:
    """Return a small picture."""
    stream = io.BytesIO()
    Image.new("RGB", (300, 200), colour).save(stream, "PNG")
    return stream.getvalue()


def payload(desk: ReviewState) -> ItemPayload:
    """Return a change of one known file, a picture, a lock file and 200 others."""
    versions = (
        FileVersions(path="pkg/x.py", before=desk.blobs.put(("\n".join(_LINES) + "\n").encode())),
        FileVersions(path="logo.png", before=desk.blobs.put(png("red")), after=desk.blobs.put(png("blue"))),
    )
    more = "".join(
        f"--- /dev/null\n+++ b/src/m{number}.py\n@@ -0,0 +1,3 @@\n+def f():\n+    return {number}\n+# needle {number}\n"
        for number in range(200)
    )
    picture = "diff --git a/logo.png b/logo.png\nindex 1..2 100644\nBinary files a/logo.png and b/logo.png differ\n"
    lock = "--- a/uv.lock\n+++ b/uv.lock\n@@ -1 +1 @@\n-1\n+2\n"
    diff = lock + _HUNKS + more + picture
    return ItemPayload(title="Sizes", issue=_ISSUE, description=_ISSUE, diff=diff, versions=versions)


def rater(desk: ReviewState, owner: Person, url: str) -> str:
    """Make a study of three such items; returns Ann's link."""
    rubric = read_rubric("mergeable")
    items = [Item(id=f"s{number}", payload=payload(desk), hidden=HiddenPart(task=f"t{number}")) for number in range(3)]
    create_study(desk.database, Study(name="st", rubric=rubric.digest), rubric, items, at=NOW)
    owner.get("/studies/st")
    return url + owner.invite("Ann")


def test_reading_with_keys(desk: ReviewState, owner: Person, url: str, contexts: Open) -> None:
    ann = contexts(quiet=True)
    enter(ann, rater(desk, owner, url))
    begin(ann)
    ready(ann)
    assert ann.locator("section.file").first.get_attribute("data-path") == "pkg/x.py"  # the lock file comes last
    assert ann.locator(".prose h3").first.inner_text() == "Sizes"
    press(ann, "j")
    expect(ann.locator("tr.hunk.at")).to_have_attribute("id", "f1h0")
    press(ann, "a")
    expect(ann.locator("#f1n49")).to_be_visible()
    expect(ann.locator("#f1n54")).to_be_visible()
    assert not ann.locator("#f1n100").count()
    press(ann, "A")
    expect(ann.locator("#f1n100")).to_be_attached()
    press(ann, "s")
    ann.wait_for_selector("table.diff.split")
    press(ann, "s")
    press(ann, "o")
    expect(ann.locator("#f1n300")).to_be_attached()
    expect(ann.locator("[data-whole]").first).to_have_attribute("aria-pressed", "true")
    press(ann, "o")
    expect(ann.locator("#f1n300")).to_have_count(0)
    press(ann, "/")
    ann.keyboard.type("needle 199")
    expect(ann.locator("#found a")).to_have_count(1)
    press(ann, "Enter")
    expect(ann.locator("tr.at")).to_contain_text("needle 199")
    press(ann, "Escape ] ]")
    assert ann.locator(".tree a.at").get_attribute("title") == "uv.lock"
    press(ann, "[ [")
    assert ann.locator(".tree a.at").get_attribute("title") == "src/m199.py"


def test_pictures_swipe_and_differ(desk: ReviewState, owner: Person, url: str, contexts: Open) -> None:
    ann = contexts(quiet=True)
    enter(ann, rater(desk, owner, url))
    begin(ann)
    ready(ann)
    box = ann.locator(".compare")
    ann.locator(".tree a[title='logo.png']").click()
    expect(box.locator("img")).to_have_count(2, timeout=60_000)
    box.get_by_role("button", name="Swipe").click()
    first, second = (each.bounding_box() for each in box.locator("img").all())
    assert first == second
    box.locator(".swipe").fill("30")
    assert "30%" in str(box.evaluate("each => getComputedStyle(each.querySelectorAll('img')[1]).clipPath"))
    box.get_by_role("button", name="Difference").click()
    assert box.evaluate("each => getComputedStyle(each.querySelectorAll('img')[1]).mixBlendMode") == "difference"
    expect(box.locator(".swipe")).to_be_hidden()


def test_panels_are_dragged_and_remembered(desk: ReviewState, owner: Person, url: str, contexts: Open) -> None:
    ann = contexts(quiet=True)
    enter(ann, rater(desk, owner, url))
    begin(ann)
    ready(ann)
    wide = "each => each.getBoundingClientRect().width"
    before = ann.locator(".left").evaluate(wide)
    bar = ann.locator("[data-resize=left]")
    box = bar.bounding_box()
    assert box is not None
    ann.mouse.move(box["x"] + 2, 400)
    ann.mouse.down()
    ann.mouse.move(box["x"] + 102, 400)
    ann.mouse.up()
    assert abs(ann.locator(".left").evaluate(wide) - before - 100) < 3
    bar.focus()
    press(ann, "ArrowLeft")
    assert abs(ann.locator(".left").evaluate(wide) - before - 84) < 3
    ann.reload()
    ready(ann)
    assert abs(ann.locator(".left").evaluate(wide) - before - 84) < 3
    press(ann, "B")
    assert not ann.locator(".right").is_visible()
    press(ann, "1")  # whoever answers sees the form
    assert ann.locator(".right").is_visible()


def count(page: Page) -> dict[str, int]:
    """Count what a rater does from now on: keys, clicks, scrolls of the form, pages."""
    script = """() => {
      window.counted = { keys: 0, clicks: 0, scrolls: 0 };
      addEventListener("keydown", (event) => { if (!/^(Control|Shift)/.test(event.key)) counted.keys += 1; }, true);
      addEventListener("click", (event) => { if (event.isTrusted && event.detail) counted.clicks += 1; }, true);
      for (const each of [document.querySelector(".right"), ...document.querySelectorAll(".right *")])
        each.addEventListener("scroll", () => { counted.scrolls += 1; });
    }"""
    page.evaluate(script)
    pages: dict[str, int] = {"pages": 0}
    page.on("framenavigated", lambda _: pages.update(pages=pages["pages"] + 1))
    return pages


def counted(page: Page, pages: dict[str, int], last: str) -> dict[str, Any]:
    """Return the counts; the last deed leaves the page, so it is counted here."""
    found: dict[str, Any] = dict(page.evaluate("() => counted"))
    found[last] += 1
    return {**found, **pages}


def inside(page: Page) -> bool:
    """Whether the form's every question and its button are within the window."""
    return bool(
        page.evaluate(
            """() => [...document.querySelectorAll("#rating fieldset, #rating .ask, #submit")].every((each) => {
      const box = each.getBoundingClientRect();
      return box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
    })"""
        )
    )


@pytest.mark.parametrize("hand", ["keys", "clicks"])
def test_what_a_rating_costs(desk: ReviewState, owner: Person, url: str, contexts: Open, hand: str) -> None:
    """Merge, five axes, minutes and confidence: 11 keys or 8 clicks, no scroll of the form, one page."""
    ann = contexts(quiet=True)
    ann.set_viewport_size({"width": 1200, "height": 750})
    enter(ann, rater(desk, owner, url))
    begin(ann)
    ready(ann)
    ann.wait_for_timeout(1500)  # by then the page says that this is quick, which must take no room
    assert inside(ann)
    pages = count(ann)
    here = ann.url
    if hand == "keys":
        press(ann, "y y y n y y")
        ann.keyboard.type("15")
        press(ann, "Enter 4")
        expect(ann.locator("#submit")).to_be_focused()
    else:
        ann.locator("[data-verdict=yes][data-sure='4']").click()
        for axis in ("core", "testing", "documentation", "lint", "quality"):
            state = "problem" if axis == "documentation" else "no_problem"
            ann.locator(f".state:has([name='axis.{axis}'][value={state}])").click()
        ann.locator("[data-chip='15']").click()
    expect(ann.locator("#saved")).to_have_text("Saved")
    found = counted(ann, pages, hand)
    assert inside(ann)
    if hand == "keys":
        press(ann, "Enter")
    else:
        ann.locator("#submit").click()
    ann.wait_for_url(lambda address: address != here)
    found["pages"] = pages["pages"]
    assert found == {
        "keys": 11 if hand == "keys" else 0, "clicks": 8 if hand == "clicks" else 0, "scrolls": 0, "pages": 1
    }  # fmt: skip
    ratings = owner.get("/studies/st/export.jsonl").text
    assert '"would_merge":true' in ratings.replace(" ", "") and '"minutes":15' in ratings.replace(" ", "")


def overflow(page: Page) -> int:
    """How many pixels the page scrolls sideways."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_width_fits_and_axe_finds_nothing(
    desk: ReviewState, owner: Person, url: str, browser: Browser, scheme: Any
) -> None:
    link = rater(desk, owner, url)
    found: list[str] = []
    for width, height in ((1400, 900), (1200, 750), (390, 844)):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        ann = context.new_page()
        enter(ann, link)
        begin(ann)
        ready(ann)
        ann.locator("[data-take]").first.click()
        expect(ann.locator("#f1n49, #f1n1").first).to_be_attached()
        found += [f"{width} {each}" for each in serious(ann)]
        found += [f"{width} scrolls sideways by {over}" for over in [overflow(ann)] if over > 0]
        if width > 900:
            press(ann, "s")
            ann.wait_for_selector("table.diff.split")
            expect(ann.locator("table.diff:not(.split)")).to_have_count(0)  # every file, not the first alone
            cells = ann.locator("table.diff.split td.code").first
            size = cells.evaluate("each => each.clientWidth / (parseFloat(getComputedStyle(each).fontSize) * 0.602)")
            assert size >= 58, (width, size)  # characters a side
            press(ann, "/")
            ann.keyboard.type("needle")
            found += [f"{width} split {each}" for each in serious(ann)]
            found += [f"{width} split scrolls sideways by {over}" for over in [overflow(ann)] if over > 0]
        else:
            for part, selector in (("Rate", "#rating"), ("Change", "section.file"), ("Issue", ".prose")):
                ann.get_by_role("button", name=part, exact=True).click()
                expect(ann.locator(selector).first).to_be_in_viewport()
            ann.locator(".state:has([name='axis.core'][value=problem])").click()
            expect(ann.locator("#saved")).to_have_text("Saved")
        context.close()
    assert found == []
