"""Open large changes in the review application, again and again: how soon is something painted, does memory stay?

Run with `python measurements/review_reading.py [--openings 50] [--limit 1000] [--cores 2]`; needs Chromium, Playwright.
Two items are opened in turn: a change of 300 files, and one of 20,000 lines in four files. Each opening is a new
browser context with a cold cache; the time is the browser's own first contentful paint, and when the first rows stand
there. The server runs on so many cores, and its resident memory is read after each opening. Leaves with 0 when every
first paint came within `--limit` milliseconds at the median and memory grew by less than 10 % after the first ten.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from repoassay.review.database import open_database
from repoassay.review.rater_accounts import add_rater
from repoassay.review.rubric import read_rubric
from repoassay.review.studies import create_study
from repoassay.review.study import FileVersions, HiddenPart, Item, ItemPayload, Study
from repoassay.server.review.blobs import Blobs
from review_kill import Server

_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"


@dataclass
class Opened:
    """What openings of one item took, in milliseconds."""

    paints: list[float] = field(default_factory=list)
    rows: list[float] = field(default_factory=list)


def code(number: int) -> str:
    """Return a line of code."""
    return f"def function_{number}(value: int) -> str: return f'{{value}} of {number}'  # line {number}"


def files_diff(count: int = 300) -> str:
    """Return a change of many files with twenty lines each."""
    found = []
    for number in range(count):
        lines = "".join(f"+{code(line)}\n" for line in range(20))
        found.append(f"--- /dev/null\n+++ b/package/module_{number}.py\n@@ -0,0 +1,20 @@\n{lines}")
    return "".join(found)


def lines_diff(count: int = 20_000, files: int = 4) -> tuple[str, str]:
    """Return a change of many lines, and what each of its files was."""
    each = count // files
    before = "".join(f"{code(line)}\n" for line in range(2 * each))
    found = []
    for number in range(files):
        lines = "".join(f" {code(line)}\n+{code(line)} changed\n" for line in range(each // 2))
        head = f"@@ -1,{each // 2} +1,{each // 2 * 2} @@\n"
        found.append(f"--- a/package/long_{number}.py\n+++ b/package/long_{number}.py\n{head}{lines}")
    return "".join(found), before


def prepare(database: str) -> str:
    """Make a study of the two changes; returns the rater's token."""
    kept, rubric, now = open_database(database), read_rubric("mergeable"), datetime.now(UTC)
    blobs = Blobs(Path(f"{database}.files"))
    long, before = lines_diff()
    digest = blobs.put(before.encode())
    versions = tuple(FileVersions(path=f"package/long_{number}.py", before=digest) for number in range(4))
    payloads = {"files": ItemPayload(diff=files_diff()), "lines": ItemPayload(diff=long, versions=versions)}
    items = [Item(id=name, payload=payload, hidden=HiddenPart(task=name)) for name, payload in payloads.items()]
    create_study(kept, Study(name="large", rubric=rubric.digest), rubric, items, at=now)
    token = add_rater(kept, "large", "Ann", at=now).token
    kept.close()
    return token


def resident(process: int) -> float:
    """Memory of a process in MiB."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def open_item(browser: Browser, url: str, token: str, item: str, opened: Opened) -> None:
    """Open an item in a context of its own, and go on to its last file, so that the server has to give it."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.goto(f"{url}/review/join/{token}")
    page.locator("button.primary").click()
    page.wait_for_url("**/review/queue")
    begun = time.monotonic()
    page.goto(f"{url}/review/item/{item}")
    page.wait_for_selector("table.diff, button.show")
    opened.rows.append(1000 * (time.monotonic() - begun))
    opened.paints.append(float(page.evaluate(_PAINT)))
    page.locator(".tree a").last.click()
    page.wait_for_function("() => document.querySelector('section.file:last-of-type table.diff')")
    context.close()


def main() -> None:
    """Measure, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openings", type=int, default=50, help="of each item")
    parser.add_argument("--limit", type=float, default=1000, help="milliseconds to the first paint")
    parser.add_argument("--cores", type=int, default=2)
    given = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.cores])
    results = {"files": Opened(), "lines": Opened()}
    memory: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        database = str(Path(place, "reviews.sqlite"))
        token = prepare(database)
        server = Server(database, Path(place))
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                for _ in range(given.openings):
                    for item, opened in results.items():
                        open_item(browser, server.url, token, item, opened)
                    memory.append(resident(server.process.pid))
                browser.close()
        finally:
            server.process.terminate()
            server.process.wait()
    failed = False
    for item, opened in results.items():
        median, worst = statistics.median(opened.paints), max(opened.paints)
        rows = statistics.median(opened.rows)
        print(f"{item}: first paint {median:.0f} ms (median), {worst:.0f} ms (worst); first rows {rows:.0f} ms")
        failed |= median > given.limit
    settled = memory[min(9, len(memory) - 1)]
    print(f"memory of the server: {memory[0]:.0f} MiB, {settled:.0f} after ten rounds, {memory[-1]:.0f} at the end")
    sys.exit(int(failed or memory[-1] > 1.1 * settled))


if __name__ == "__main__":
    main()
