"""The page in a real browser, without network: nothing goes wrong, it shows what it should, and its controls work."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from PIL import Image

from repoassay.report import summarise, write_html
from repoassay.store import RunFolder

DESKTOP, PHONE = (1200, 900), (390, 844)
PASSED, FAILED, ECR = (0x00, 0x9E, 0x73), (0xD5, 0x5E, 0x00), (0x56, 0xB4, 0xE9)

# The browser wants its pipe at descriptors 3 and 4.
PIPES = """
import fcntl, os, sys
pair = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
os.dup2(pair[0], 3)
os.dup2(pair[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """Headless Chromium, driven through a pipe by its DevTools protocol; keeps everything it complains about."""

    def __init__(self, program: str, profile: Path) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", PIPES, str(to_browser), str(from_browser), program,
             "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}",
             "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self._session = ""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._loaded = False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)
        self._process.terminate()
        self._process.wait(20)
        os.close(self._in)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command and wait for its answer, noting events on the way."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._in, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        method, params = message.get("method"), message.get("params", {})
        if method in (
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Page.javascriptDialogOpening",
        ):
            self.complaints.append(json.dumps(params))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        return message

    def open(self, page: Path, size: tuple[int, int] = DESKTOP, scheme: str = "light") -> None:
        """Load a file at a window size and colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1,
                  mobile=size == PHONE)  # fmt: skip
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._loaded = False
        self.call("Page.navigate", url=page.as_uri())
        while not self._loaded:
            self._receive()

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, text: str = "") -> None:
        """Press and release one key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text if kind == "keyDown" else "",
                      windowsVirtualKeyCode=13 if key == "Enter" else 0)  # fmt: skip

    def picture(self) -> Image.Image:
        """The whole page as an image."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        reason = "No Chromium is installed; the HTML page was not looked at. Install it with: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with Browser(program, tmp_path / "profile") as found:
        yield found


@pytest.fixture
def page(varied: RunFolder, tmp_path: Path) -> Path:
    """The page far from its run folder: it must need nothing beside it."""
    return write_html(summarise(varied), tmp_path / "elsewhere.html")


def colours(picture: Image.Image, region: dict[str, float] | None = None) -> dict[tuple[int, ...], int]:
    """How many pixels have each colour, in a region of the page or all of it."""
    if region is not None:
        picture = picture.crop(tuple(int(region[side]) for side in ("left", "top", "right", "bottom")))  # type: ignore[arg-type] # four ints
    found = picture.getcolors(1 << 24)
    assert found is not None
    return {colour: count for count, colour in found if isinstance(colour, tuple)}


def region_of(browser: Browser, selector: str) -> dict[str, float]:
    region = browser.run(
        f"(() => {{ const r = document.querySelector({selector!r}).getBoundingClientRect();"
        " return {left: r.left, top: r.top + scrollY, right: r.right, bottom: r.bottom + scrollY} })()"
    )
    assert isinstance(region, dict)
    return region


def visible_tasks(browser: Browser) -> list[str]:
    found = browser.run(
        "[...document.querySelectorAll('#attempts > tbody')].filter(b => !b.hidden)"
        ".map(b => b.querySelector('.task').textContent)"
    )
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light"), (PHONE, "dark")])
def test_it_draws_without_a_complaint(browser: Browser, page: Path, size: tuple[int, int], scheme: str) -> None:
    browser.open(page, size, scheme)
    picture = browser.picture()
    assert browser.complaints == []
    assert set(browser.requests) == {page.as_uri()}
    assert len(colours(picture)) > 100
    ground = max(colours(picture).items(), key=lambda item: item[1])[0]
    assert (sum(ground) > 3 * 128) == (scheme == "light")
    assert colours(picture, region_of(browser, "#plot-rates svg"))[ECR] > 100
    assert colours(picture, region_of(browser, "#plot-domains svg"))[PASSED] > 500
    assert colours(picture, region_of(browser, "#plot-seconds svg"))[PASSED] > 20
    outcomes = colours(picture, region_of(browser, "#plot-outcomes svg"))
    assert outcomes[PASSED] > 500 and outcomes[FAILED] > 300
    # Nothing makes the reader scroll sideways.
    assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_texts_in_plots_do_not_run_into_each_other(browser: Browser, page: Path) -> None:
    for size in (DESKTOP, PHONE):
        browser.open(page, size)
        overlaps = browser.run(
            "[...document.querySelectorAll('.plot svg')].flatMap(svg => {"
            " const boxes = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);"
            " return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) => p.left < q.right &&"
            " q.left < p.right && p.top < q.bottom - 3 && q.top < p.bottom - 3).map(([b]) => a + ' / ' + b)) })"
        )
        assert overlaps == []


def test_the_policy_stops_a_script_that_is_not_ours(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run("const s = document.createElement('script'); s.textContent = 'window.bad = 1'; document.body.append(s)")
    browser.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.bad = 2\">')")
    assert browser.run("window.bad") is None
    assert any("Content Security Policy" in complaint for complaint in browser.complaints)


def test_the_table_sorts_by_click_and_by_key(browser: Browser, page: Path) -> None:
    browser.open(page)
    seconds = "[...document.querySelectorAll('#attempts > tbody')].map(b => b.rows[0].lastElementChild.textContent)"

    def values() -> list[float]:
        return [-1.0 if text == "-" else float(text) for text in browser.run(seconds)]

    unsorted = values()
    browser.run("document.querySelector('#attempts thead th:last-child button').click()")
    assert values() == sorted(unsorted)
    browser.run("document.querySelector('#attempts thead th:last-child button').focus()")
    browser.press("Enter", "\r")
    assert values() == sorted(unsorted, reverse=True)
    assert browser.run("document.querySelector('#attempts th:last-child').getAttribute('aria-sort')") == "descending"
    browser.run("document.querySelectorAll('#attempts thead button')[1].click()")
    assert visible_tasks(browser) == sorted(visible_tasks(browser))
    assert browser.run("document.querySelectorAll('[aria-sort]').length") == 1
    assert browser.complaints == []


def test_the_table_filters_by_word_agent_and_outcome(browser: Browser, page: Path) -> None:
    browser.open(page)

    def choose(field: str, value: str) -> None:
        browser.run(
            f"(() => {{ const f = document.getElementById({field!r}); f.value = {value!r};"
            " f.dispatchEvent(new Event('input', {bubbles: true})) })()"
        )

    assert len(visible_tasks(browser)) == 21
    choose("find", "Reason PATCH")
    assert visible_tasks(browser) == ["task-04"]
    choose("find", "")
    choose("by-outcome", "infra_fault")
    assert visible_tasks(browser) == ["task-09", "task-09", "task-10", "task-10"]
    choose("by-agent", "2")
    assert visible_tasks(browser) == ["task-09"]
    assert browser.run("document.getElementById('count').textContent") == "1 of 21 shown"
    browser.run("document.getElementById('toggle').click()")
    assert browser.run("document.querySelectorAll('details[open]').length") == 1
    choose("find", "[bold]&amp; <!-- {{")  # an agent's own words, found as they are
    choose("by-agent", "")
    choose("by-outcome", "")
    assert visible_tasks(browser) == ["task-10"]
    assert browser.complaints == []


def test_it_prints_on_paper(browser: Browser, page: Path) -> None:
    browser.open(page)
    paper = base64.b64decode(browser.call("Page.printToPDF")["data"])
    assert paper.startswith(b"%PDF") and len(paper) > 20_000
