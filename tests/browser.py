"""Headless Chromium without network for tests of pages; whatever a page complains of is kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# The first has no windows to draw, which halves the time of a test; all of them render alike.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
DESKTOP, PHONE = (1200, 900), (390, 844)
VIEWS = [(size, scheme) for size in (DESKTOP, PHONE) for scheme in ("light", "dark")]


def chromium() -> Iterator[Browser]:
    """The browser; the body of a fixture. Without one a test is skipped, in CI it fails."""
    api = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        reason = "No Chromium is installed; the page was not looked at. Install it with: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        )
        yield browser
        browser.close()


class Opened:
    """A page from a file or an address, what it complained of and what it asked for."""

    def __init__(
        self, browser: Browser, path: Path | str, size: tuple[int, int] = DESKTOP, scheme: str = "light"
    ) -> None:
        view: Any = {"width": size[0], "height": size[1]}
        context = browser.new_context(viewport=view, color_scheme="dark" if scheme == "dark" else "light")
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path if isinstance(path, str) else path.as_uri())

    def serious_faults(self) -> list[tuple[str, str]]:
        """Faults of accessibility that keep somebody from the page: the rule, and the first element."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
        violations = axe.run(self.page).response["violations"]
        return [(one["id"], one["nodes"][0]["html"]) for one in violations if one["impact"] in ("serious", "critical")]

    def close(self) -> None:
        """Close the page with all it kept."""
        self.page.context.close()
