"""Variables of ours are told on one page, and none that is mistyped is ignored."""

from __future__ import annotations

import re
from pathlib import Path

import repoassay as package
from command_line import repoassay
from repoassay.cli.variables import VARIABLES, WITHIN

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "environment.md"
SOURCE = Path(package.__file__).parent


def test_the_page_has_every_variable_and_its_meaning() -> None:
    rows = dict(re.findall(r"^\| `(REPOASSAY_\w+)` \| (.+) \|$", PAGE.read_text("utf-8"), re.MULTILINE))
    assert rows == VARIABLES


def test_every_variable_that_the_source_names_is_known() -> None:
    suites = set(SOURCE.glob("benchmarks/*/suite/**/*"))
    named = {
        name
        for path in SOURCE.rglob("*")
        if path.suffix in (".py", ".toml", ".cjs", ".mjs") and path not in suites
        for name in re.findall(r"(?<!\w)REPOASSAY_[A-Z_]+[A-Z]", path.read_text("utf-8"))
    }
    assert named - {*VARIABLES, *WITHIN} <= {"REPOASSAY_GOLDEN", "REPOASSAY_REGENERATE", "REPOASSAY_TEST_AGENTS"}


def test_a_mistyped_variable_is_refused(tmp_path: Path) -> None:
    done = repoassay("tasks", "list", "starter", cwd=tmp_path, env={"REPOASSAY_CASHE": "/tmp"})
    assert done.returncode == 2
    assert "There is no environment variable 'REPOASSAY_CASHE'. Did you mean REPOASSAY_CACHE?" in done.stderr
