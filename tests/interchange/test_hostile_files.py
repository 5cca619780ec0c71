"""Files of other tools with a value that nobody expects are read as far as they go, or refused with a sentence."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mini_runs import write_run
from repoassay.errors import BadInput, RepoAssayError
from repoassay.interchange import find_importer, import_run
from repoassay.report import read_trajectory
from repoassay.report.diagnosis_runs import Diagnoser, subjects_of

RECORDED = Path(__file__).parents[1] / "agents" / "recorded"
SOURCES = {"claude-code": "projects", "codex": "sessions", "gemini-cli": "tmp"}
VALUES: tuple[Any, ...] = (
    float("nan"), float("inf"), -5, 1e300, 10**400, True, None, "x", "1e999", "\x1b[31m\x00", "../../etc/passwd",
    "\ud800", "a" * 5000, [], {}, [[1]], {"a": {"b": [1]}}, 2**63,
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value[:8]) if isinstance(value, list) else ()
    for key, part in inside:
        yield from places(part, (*path, key))
    if path:
        yield path


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    value = copy.deepcopy(value)
    inside = value
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = new
    return value


def spoil(path: Path, chance: random.Random) -> None:
    """Put a value somewhere into one document of a file."""
    text = path.read_text("utf-8")
    rows = (
        [json.loads(row) for row in text.splitlines() if row.strip()] if path.suffix == ".jsonl" else [json.loads(text)]
    )
    at = chance.randrange(len(rows))
    if found := list(places(rows[at])):
        rows[at] = changed(rows[at], chance.choice(found), chance.choice(VALUES))
    path.write_text("\n".join(map(json.dumps, rows)))


@pytest.mark.parametrize("tries", [8, pytest.param(60, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("kind", [*SOURCES, "mini-swe-agent"])
def test_any_value_anywhere_is_no_traceback_and_no_impossible_figure(kind: str, tries: int, tmp_path: Path) -> None:
    chance = random.Random(f"{kind}-{tries}")
    whole = tmp_path / "whole"
    if kind in SOURCES:
        shutil.copytree(RECORDED / kind / SOURCES[kind], whole / "task" / SOURCES[kind])
    else:
        write_run(whole, {"a__b-1": "diff"})
    for number in range(tries):
        source = tmp_path / str(number)
        shutil.copytree(whole, source)
        spoil(chance.choice(sorted(path for path in source.rglob("*.json*") if path.is_file())), chance)
        try:
            run = import_run(kind, source, tmp_path / f"run-{number}").run
        except RepoAssayError:
            continue
        diagnoser = Diagnoser(run)
        for subject in subjects_of(run):
            diagnoser.look(subject)
        for found in run.finished():
            told = read_trajectory(found.folder)
            usage = told.own.usage if told else None
            assert usage is None or (0 <= usage.cached <= usage.input < 10**16 and 0 <= usage.output < 10**16), usage
            assert told is None or told.own.dollars is None or 0 <= told.own.dollars <= 10**9
        shutil.rmtree(source)


@pytest.mark.parametrize("kind", ["result.json", "run.eval", "trial/agent/trajectory.json", "results.xml"])
@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path, kind: str, linked: bool) -> None:
    (tmp_path / "run" / kind).parent.mkdir(parents=True)
    pipe = tmp_path / "elsewhere" if linked else tmp_path / "run" / kind
    os.mkfifo(pipe)
    if linked:
        (tmp_path / "run" / kind).symlink_to(pipe)
    for source in (tmp_path / "run", tmp_path / "run" / kind):
        for asked in (None, "atif"):
            with pytest.raises(BadInput, match="is a pipe, a socket or a device"):
                find_importer(asked, source)


def test_folders_that_nobody_can_walk_through_are_a_sentence(tmp_path: Path) -> None:
    inside = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=inside)
        deeper = os.open("d", os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = deeper
    os.close(inside)
    (tmp_path / "result.json").write_text("{}")
    for asked in (None, "harbor", "harbor-jobs"):
        with pytest.raises(BadInput, match="is a folder too deep"):
            find_importer(asked, tmp_path)
    subprocess.run(["rm", "-r", tmp_path / "d"], check=True)  # as nothing in Python 3.11 can


def test_links_to_nothing_and_to_the_null_device_are_no_matter(tmp_path: Path) -> None:
    (tmp_path / "absent").symlink_to(tmp_path / "nowhere")
    (tmp_path / "null").symlink_to(os.devnull)
    (tmp_path / "round").symlink_to(tmp_path)
    with pytest.raises(BadInput, match="looks like no format"):
        find_importer(None, tmp_path)
