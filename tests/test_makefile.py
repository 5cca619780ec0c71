"""The Makefile's words: each is described in its group, and no document calls one that is not there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
RULES = re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE)
GROUPS = ["Everyday", "Longer", "Maintenance"]


def listed() -> dict[str, str]:
    """Target -> description, as `make help` prints them."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed here")
    done = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == GROUPS
    return dict(re.findall(r"^  make ([a-z-]+) +(\S.*)$", done.stdout, re.MULTILINE))


def test_help_describes_every_target_and_no_other() -> None:
    phony = re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    assert phony is not None and len(set(RULES)) == len(RULES)
    assert sorted(phony[1].split()) == sorted(RULES) == sorted(listed())


def test_everyday_words_are_six() -> None:
    everyday = MAKEFILE.split("##@ Everyday")[1].split("##@")[0]
    assert re.findall(r"^([a-z][a-z-]*):", everyday, re.MULTILINE) == ["demo", "test", "check", "fix", "docs", "help"]


def test_the_demo_brings_what_the_tutorial_needs() -> None:
    """Its first lines are `make demo`, and then an agent with a model."""
    made = re.search(r"^\.venv/\.demo:.*\n(.*)$", MAKEFILE, re.MULTILINE)
    assert made is not None and {"agents", "metrics"} <= set(re.findall(r"--extra (\S+)", made[1]))


@pytest.mark.parametrize(
    "path",
    [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "AGENTS.md", ".ci/run", ".pre-commit-config.yaml")]
    + sorted((ROOT / "docs").rglob("*.md"))
    + sorted((ROOT / ".github").rglob("*.*")),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_documents_call_targets_that_exist(path: Path) -> None:
    text = path.read_text("utf-8")
    if path.suffix == ".md":  # in a sentence, `make` is a verb
        text = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
    called = re.findall(r"(?:^|[`&$] ?|run: )make ([a-z][a-z-]+)\b", text, re.MULTILINE)
    assert set(called) <= set(RULES)
