"""Careless input is answered in a sentence by every command, with all extras and with none."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

from command_line import repoassay

BLOCK = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""
LINES = """
run|run starter|run nope --agent reference|run starter --agent nope|run starter --agent reference --task nope
run starter --agent reference --attempts 0|run starter --agent reference --workers x
run starter --agent command|run starter --agent command --agent-command {agent}
run starter --agent aider --model nope|run . --agent reference
run starter --agent aider --model openai/nope --yes|run --prompts nope --repo nope --agent reference
run starter --agent reference --timeout -1|run starter --agent reference --sweep nope
run empty --agent reference|run starter --agent pkg.nope:thing|run starter --agent nope.toml
run starter --agent text.txt --task pdf-*|resume|resume nope|resume latest|resume text.txt|resume empty
resume broken|resume broken --only nope|report|report nope|report latest|report text.txt|report broken
report broken --beside nope|report broken --format nope|compare|compare nope|compare nope nope
compare broken broken:x|compare nope --fail-on-regression --max-drop x|leaderboard|leaderboard build
leaderboard build nope --out site|leaderboard pack nope --out x|leaderboard validate nope
leaderboard validate broken|leaderboard build broken --out site|export|export nope --as csv --out x
export broken --as nope|show|show nope|show latest|show broken|show broken/01|diagnose|diagnose nope
diagnose broken|diagnose labels nope|diagnose label nope E1|diagnose label nope E9 --by me|diagnose score nope
signals|signals nope|signals broken|grade|grade starter|grade starter --outputs nope
grade nope --outputs empty|grade text.txt --outputs empty|submit|submit --suite starter
submit --suite starter --submissions nope|submit --suite starter --submissions text.txt
submit --dataset nope --submissions text.txt|submit --dataset text.txt --submissions text.txt
serve --suite nope|attack|attack nope|attack starter --family nope|judge|judge nope
judge calibrate nope --study x|review nope|fetch|fetch nope|fetch starter|construct|construct commit
construct commit --repo nope --solution HEAD|mine nope|mine empty --out suite|curate
curate select --candidates nope --out pool|curate check nope|curate prove nope|agents|agents check nope
agents check reference|agents install nope|tasks|tasks list nope|tasks show nope|tasks lint nope
tasks show starter nope|tasks lint text.txt|tasks validate nope|tasks import nope --out x
tasks import text.txt --out x|metrics nope|stats|stats repo nope|stats suite nope|stats dataset nope
stats dataset text.txt|stats results nope|stats results text.txt --k x|cache nope|doctor nope|schema nope
completion nope|swebench|swebench run|nope|--nope
run starter --agent reference --out text.txt|run starter --agent reference --out loop/x
run starter --agent reference --prices pipe|run starter --agent reference --prices nest.json|run loop --agent reference
run starter --agent loop/|run starter --agent os:getcwd|run starter --agent :x|run starter --agent bad.utf8
run starter --agent ./empty|run starter --agent reference --sweep timeout=nan|run pipe --agent reference
run starter --agent aider --model scripted/x --dialogue nest.json
run starter --agent aider --model vllm/x --model-upstream bad.utf8|run starter --agent reference --budget-usd nan
agents new|agents new text.txt --command x|agents new ./n --command {prmpt} --no-try
agents new ./n --command x --bring loop --no-try|agents new ./n --command x --endpoint ftp://x --no-try
agents new ./n --command x --name ../../evil --no-try|agents new ./n --command x --dialect klingon
view nope|view text.txt|view loop|view empty --port -1|review figures nope|review import-pr fake.zip
review import-pr fake.zip --study s --database x.db|review import-pr nest.json --study s --database x.db
review export-pr nope|review figures nope --database nope.db|review export-pr nope --database nope.db
review empty --database sqlite:////nope/x/y.db|mine nope --out x --since never|mine . --out text.txt
curate select --candidates nest.json --out pool|curate draft nope|curate prove empty|curate release nope --out x
grade starter --outputs pipe|submit --suite starter --submissions nest.json|tasks import nest.json --out y
report empty --out text.txt|leaderboard pack empty --out text.txt|stats dataset nest.json
"""
COMMANDS = [line.strip() for row in LINES.strip().splitlines() for line in row.split("|")]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("empty", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "broken" / "run.json").write_text("{]")
    (tmp_path / "text.txt").write_text("neither \x00 TOML nor JSON\n")
    (tmp_path / "bad.utf8").write_bytes(b"\xff\xfe")
    (tmp_path / "nest.json").write_text("[" * 100_000)
    (tmp_path / "fake.zip").write_bytes(b"PK\x03\x04")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def names_of_extras() -> set[str]:
    """What a bare installation cannot import: everything but what it needs, and what that needs."""
    needed, waiting = set[str](), ["repoassay"]
    while waiting:
        name = canonical(waiting.pop())
        if name not in needed:
            needed.add(name)
            with suppress(PackageNotFoundError):
                waiting += [re.split(r"[^\w.-]", each)[0] for each in requires(name) or () if "extra ==" not in each]
    return {
        package for package, owners in packages_distributions().items()
        if not {canonical(owner) for owner in owners} & needed
    }  # fmt: skip


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def assert_sentence(line: str, code: int | None, said: str) -> None:
    assert "Traceback" not in said and "An unexpected" not in said, f"{line}\n{said}"
    assert code in (0, 1, 2, 3), f"{line}\n{said}"


@pytest.mark.parametrize(
    "line",
    [
        line if not number % 12 else pytest.param(line, marks=pytest.mark.exhaustive)
        for number, line in enumerate(COMMANDS)
    ],
)
def test_careless_input_is_a_sentence(line: str, place: Path) -> None:
    done = repoassay(*line.split(), cwd=place, seconds=100)
    assert_sentence(line, done.returncode, done.stderr)


@pytest.mark.exhaustive
def test_careless_input_is_a_sentence_in_a_bare_installation(place: Path) -> None:
    (place / "site").mkdir()
    (place / "site" / "sitecustomize.py").write_text(BLOCK.format(names=names_of_extras()))
    program = Path(sys.executable).with_name("repoassay")
    environment = {**os.environ, "PYTHONPATH": str(place / "site")}
    for line in COMMANDS:
        done = subprocess.run(
            [program, *line.split()], cwd=place, env=environment, capture_output=True, text=True, check=False,
            timeout=100,
        )  # fmt: skip
        assert_sentence(line, done.returncode, done.stderr)


def test_what_an_extra_brings_is_named_where_it_is_missing(place: Path) -> None:
    (place / "site").mkdir()
    (place / "site" / "sitecustomize.py").write_text(BLOCK.format(names=names_of_extras()))
    body = "from repoassay.exits import exit_with\nimport sys\nexit_with('repoassay', lambda: __import__(sys.argv[1]))"
    for package, extra in (("uvicorn", "serve"), ("PIL", "metrics"), ("aiohttp", "agents")):
        done = subprocess.run(
            [sys.executable, "-c", body, package], env={**os.environ, "PYTHONPATH": str(place / "site")},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 3 and f"pip install 'repoassay[{extra}]'" in done.stderr, done.stderr


@pytest.mark.exhaustive
def test_what_reads_reviews_names_the_extra_for_reviews(place: Path) -> None:
    (place / "site").mkdir()
    (place / "site" / "sitecustomize.py").write_text(BLOCK.format(names=names_of_extras()))
    program = Path(sys.executable).with_name("repoassay")
    for line in (
        "review figures s --database x.db", "review plan show s --database x.db",
        "review import t --database x.db --study s",
        "review export s --database x.db --out t", "review export-pr s --database x.db --out y",
        "review checkout i --database x.db", "judge calibrate x.db --study s",
        "judge run x.db --study s --model vllm/x",
        "example metr metr --no-serve", "review serve empty",
    ):  # fmt: skip
        done = subprocess.run(
            [program, *line.split()], cwd=place, env={**os.environ, "PYTHONPATH": str(place / "site")},
            capture_output=True, text=True, check=False, timeout=100,
        )  # fmt: skip
        assert done.returncode == 3 and "pip install 'repoassay[review]'" in done.stderr, f"{line}\n{done.stderr}"


def test_a_folder_that_holds_runs_is_told_from_a_run(place: Path) -> None:
    (place / "runs" / "a" / "the-run").mkdir(parents=True)
    (place / "runs" / "a" / "the-run" / "run.json").write_text("{}")
    for verb in ("report", "show", "diagnose attempts", "resume"):
        done = repoassay(*verb.split(), "runs/a", cwd=place)
        assert done.returncode == 2 and "Name a run in it, such as runs/a/the-run." in done.stderr, done.stderr


@pytest.mark.long
def test_runs_are_made_and_read_without_any_extra(place: Path) -> None:
    (place / "site").mkdir()
    (place / "site" / "sitecustomize.py").write_text(BLOCK.format(names=names_of_extras()))
    program = Path(sys.executable).with_name("repoassay")
    for line in (
        "run starter --task sensor-log-daily --agent nothing --attempts 2 --out bare", "report bare/*",
        "report bare/* --json", "report bare/* --out tables", "show bare/*", "compare bare/* bare/*", "diagnose bare/*",
        "leaderboard build bare/* --out board", "tasks show starter sensor-log-daily", "stats suite starter",
    ):  # fmt: skip
        words = [str(found) for word in line.split() for found in (place.glob(word) if "*" in word else [word])]
        done = subprocess.run(
            [program, *words], cwd=place, env={**os.environ, "PYTHONPATH": str(place / "site")}, capture_output=True,
            text=True, check=False, timeout=100,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stderr}"
