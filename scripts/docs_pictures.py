"""Make the pictures of pages in the documents anew, out of runs of the bundled suite that need no model and no network.

Run: python scripts/docs_pictures.py [FOLDER], docs/pictures by default. Needs Chromium and the test group's Playwright.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from playwright.sync_api import sync_playwright

from repoassay import evaluate
from repoassay.records import RunFolder
from repoassay.report import summarise, write_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from repoassay import Run

ROOT = Path(__file__).parents[1]
COLOURS, MOST_BYTES = 96, 150_000
STEPS = [
    ("Let me read the task and see what is there.", "ls /workspace /workspace/inputs /workspace/repo"),
    ("The repository reads these logs.", "cat /workspace/repo/docs/format.md"),
    ("I average each channel by day.", "printf 'station,day,mean\\n' > /workspace/output/daily.csv"),
]


def main() -> None:
    """Make the runs, open their pages, and keep what they look like."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/pictures"
    folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        several, steps = runs(Path(place))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        keep(browser, several, folder / "results.png", (1200, 1000))
        (attempt,) = (steps.parent / "report_files").glob("*.html")
        keep(browser, attempt, folder / "attempt.png", (1200, 820))
        browser.close()


def runs(place: Path) -> tuple[Path, Path]:
    """Pages of a run of several systems, and of one attempt whose model says what `STEPS` has."""
    agents = ["reference", "copycat", "garbage", "nothing"]
    several = evaluate("starter", agent=agents, tasks=["edit-ledger-*", "sensor-*", "pdf-*", "web-*"], out=place / "a")
    turns = [{"text": said, "calls": [{"tool": "shell", "command": command}]} for said, command in STEPS]
    turns.append({"text": "Done."})
    counted = [{"kind": "turn", **turn, "usage": {"input": 900, "output": 60}} for turn in turns]
    lines = [{"kind": "settings", "end": "error"}, *counted]
    dialogue = place / "dialogue.jsonl"
    dialogue.write_text("".join(json.dumps(line) + "\n" for line in lines))
    one = evaluate(
        "starter", agent="command", command="python {agent}/tiny.py", agent_folder=ROOT / "tests/assets/agents",
        model="scripted/any", dialogue=dialogue, tasks=["sensor-log-daily"], out=place / "b",
    )  # fmt: skip
    return page_of(several), page_of(one)


def page_of(run: Run) -> Path:
    """Write a run's page, and those of its attempts beside it."""
    return write_html(summarise(RunFolder(run.path)))


def keep(browser: Browser, page: Path, picture: Path, size: tuple[int, int]) -> None:
    """Open a page and write the beginning of it, in few colours."""
    opened = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme="light")
    opened.goto(page.as_uri())
    shot = Image.open(io.BytesIO(opened.screenshot()))
    shot.convert("RGB").quantize(COLOURS).save(picture, optimize=True)
    opened.close()
    if picture.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{picture} has {picture.stat().st_size:,} bytes, more than {MOST_BYTES:,}.")


if __name__ == "__main__":
    main()
