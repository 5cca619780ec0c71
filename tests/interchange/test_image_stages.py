"""Stages of a Dockerfile make files for the last one, and leave nothing else behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from repoassay.engine import GradingContext
from repoassay.errors import InfraFault
from repoassay.interchange import import_suite
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import read_task
from repoassay.workspace import lay_out, release_lines

DOCKERFILE = """\
FROM python:3.11-slim AS maker
WORKDIR /build
COPY make.py .
RUN python make.py && echo left > /app/left.txt

FROM python:3.11-slim
WORKDIR /app
RUN mkdir -p /app/reports
COPY --from=maker /app/data /app/data
COPY --from=0 /made/notes.txt /app/notes/
COPY kept.txt /app/kept.txt
RUN cat data/parcels.txt kept.txt > both.txt
"""
MAKES = """\
import os
os.makedirs("/app/data", exist_ok=True)
open("/app/data/parcels.txt", "w").write("3\\n5\\n")
os.makedirs("/made", exist_ok=True)
open("/made/notes.txt", "w").write("made\\n")
open("/build/answer.txt", "w").write("8\\n")
"""
FILES = {
    "task.toml": 'version = "1.0"\n', "instruction.md": "Write the sum.\n", "environment/kept.txt": "kept\n",
    "environment/Dockerfile": DOCKERFILE, "environment/make.py": MAKES,
    "tests/test.sh": "pytest /tests/test_outputs.py\necho 1 > /logs/verifier/reward.txt\n",
    "tests/test_outputs.py": "def test_sum():\n    assert open('/app/sum.txt').read() == '8'\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def bench() -> Iterator[GradingContext]:
    if "3.11" not in release_lines():
        pytest.skip("this machine has no Python 3.11 to make an environment of")
    cache = Cache()
    made = GradingContext(None, cache, open_sandbox("namespaces", cache))
    yield made
    made.oracle.close()


def laid_out(folder: Path, bench: GradingContext, **changed: str) -> dict[str, str]:
    """The files that an agent would see, by path."""
    for path, text in FILES.items():
        place = folder / "theirs/parcels" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(changed.get(place.stem, text))
    done = import_suite("harbor", folder / "theirs", folder / "suite", lambda: bench)
    assert list(done.tasks) == ["parcels"], done.refused
    task = read_task(done.path / "tasks/parcels")
    base = lay_out(task, None, bench.cache, bench.sandbox).base
    found = (path for path in base.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(base).as_posix(): path.read_text() for path in found}


@pytest.mark.long
def test_the_last_stage_has_what_it_copies_and_nothing_else_of_the_others(
    tmp_path: Path, bench: GradingContext
) -> None:
    assert laid_out(tmp_path, bench) == {
        "app/data/parcels.txt": "3\n5\n", "app/notes/notes.txt": "made\n", "app/kept.txt": "kept\n",
        "app/both.txt": "3\n5\nkept\n",
    }  # fmt: skip


@pytest.mark.long
def test_a_stage_does_not_write_over_files_of_another(tmp_path: Path, bench: GradingContext) -> None:
    with pytest.raises(InfraFault, match="wrote over files of another"):
        laid_out(tmp_path, bench, make=f"{MAKES}open('/app/kept.txt', 'w').write('mine')\n")
