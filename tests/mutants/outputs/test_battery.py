"""The battery on small tasks: a weak criterion leaves survivors by name, a sound one none, and right variants pass."""

from __future__ import annotations

import json
import wave
from pathlib import Path
from typing import Any

import pytest

from repoassay.mutants import Battery, Expected, GradedMutant, battery_strength, run_battery, strength_line
from repoassay.sandbox import Cache, Sandbox, open_sandbox
from repoassay.tasks import read_task
from repoassay.types import Outcome

HEAD = """schema = 1
[task]
id = "small"
title = "A small task"
kind = "deliverable"
domain = "Tests"
[repository]
source = "folder:code"
licence = "MIT"
"""


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return open_sandbox("namespaces", Cache())


def criterion(metric: str, of: str, threshold: str, against: str = "", options: str = "") -> str:
    lines = ["[[grading.result]]", f'metric = "{metric}"', f'of = "{of}"', threshold]
    lines += [f'against = "{against}"'] if against else []
    lines += [f"options = {{ {options} }}"] if options else []
    return "\n".join(lines) + "\n"


class Small:
    """A task folder and its right output."""

    def __init__(self, place: Path, sandbox: Sandbox) -> None:
        self.folder, self.right, self._sandbox = place / "small", place / "right", sandbox
        for name in ("code", "inputs", "tests", "solution"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "code/README").write_text("nothing\n")
        (self.folder / "solution/solve.py").write_text("pass\n")
        (self.folder / "instruction.md").write_text("Do it.\n")
        self.right.mkdir()

    def battery(
        self, files: str, criteria: str, inputs: tuple[str, ...] = (), more: str = "", most: int = 500
    ) -> Battery:
        named = ", ".join(f'"{name}"' for name in inputs)
        text = f'{HEAD}[inputs]\nfiles = [{named}]\n[outputs]\nfiles = ["{files}"]\n{criteria}{more}'
        (self.folder / "task.toml").write_text(text)
        return run_battery(read_task(self.folder), self.right, self._sandbox, most=most)


@pytest.fixture
def small(tmp_path: Path, sandbox: Sandbox) -> Small:
    return Small(tmp_path, sandbox)


def names(mutants: list[Any]) -> set[str]:
    return {each.name for each in mutants}


def draw(small: Small) -> None:
    """A photo as input, and the right answer: the same with all its colours deeper."""
    numpy, image = pytest.importorskip("numpy"), pytest.importorskip("PIL.Image")
    random = numpy.random.default_rng(3)
    grown = image.fromarray(random.integers(0, 255, (12, 16, 3), dtype=numpy.uint8)).resize((160, 120), 3)
    pixels = numpy.asarray(grown, dtype=float)
    grown.save(small.folder / "inputs/photo.png")
    done = numpy.clip(255 * (pixels / 255) ** 1.8, 0, 255).astype(numpy.uint8)
    for place in (small.right / "out.png", small.folder / "tests/truth.png"):
        image.fromarray(done).save(place)


@pytest.mark.exhaustive
def test_a_mean_over_the_picture_lets_half_done_work_survive(small: Small) -> None:
    draw(small)
    mean = criterion("image_mean_difference", "out.{png,jpg}", "at_most = 30", "truth:truth.png")
    found = small.battery("out.{png,jpg}", mean, ("photo.png",))
    assert {"half-undone-left", "half-undone-top", "tile-undone"} <= names(found.survivors)
    assert "mirrored" not in names(found.survivors)
    assert not found.refused
    assert "out.png:half-undone-left" in str(found)


@pytest.mark.long
def test_a_sound_criterion_kills_every_wrong_picture_and_takes_other_formats(small: Small) -> None:
    draw(small)
    sound = criterion("image_mean_difference", "out.{png,jpg}", "at_most = 3", "truth:truth.png")
    found = small.battery("out.{png,jpg}", sound, ("photo.png",))
    assert found.sound, str(found)
    assert len(found.of(Expected.WRONG)) > 30
    assert {"same-pixels", "jpg-95", "noise-slight"} <= names(found.of(Expected.RIGHT))


@pytest.mark.exhaustive
def test_a_format_without_losses_is_not_written_with_losses(small: Small) -> None:
    draw(small)
    exact = criterion("image_psnr", "out.png", "at_least = 30", "truth:truth.png")
    found = small.battery("out.png", exact, ("photo.png",))
    assert names(found.of(Expected.RIGHT)) == {"same-pixels"}


ROWS = "day,place,total\n" + "".join(f"2024-03-{day:02},Quay {day % 4},{day * 3.25}\n" for day in range(1, 21))


def test_counting_rows_alone_lets_wrong_values_survive(small: Small) -> None:
    (small.right / "out.csv").write_text(ROWS)
    found = small.battery("out.csv", criterion("table_rows", "out.csv", "equals = 20"))
    assert {"columns-swapped", "column-changed-total", "numbers-rounded", "first-row-repeated"} <= names(
        found.survivors
    )
    assert "row-missing" not in names(found.survivors)


def test_cells_of_a_table_are_told_apart_and_its_spelling_is_free(small: Small) -> None:
    for place in (small.right / "out.csv", small.folder / "tests/truth.csv"):
        place.write_text(ROWS)
    found = small.battery("out.csv", criterion("table_cells_f1", "out.csv", "at_least = 1", "truth:truth.csv"))
    assert found.sound, str(found)
    assert {"line-ends-crlf", "byte-order-mark", "all-quoted"} <= names(found.of(Expected.RIGHT))
    assert {each.outcome.value for each in found.of(Expected.OPEN) if each.name == "rows-shuffled"} == {"passed"}


@pytest.mark.exhaustive
def test_what_a_threshold_allows_is_no_survivor(small: Small) -> None:
    for place in (small.right / "out.csv", small.folder / "tests/truth.csv"):
        place.write_text(ROWS)
    found = small.battery("out.csv", criterion("table_cells_f1", "out.csv", "at_least = 0.9", "truth:truth.csv"))
    allowed = {each.name: each.why for each in found.of(Expected.OPEN)}
    assert "the criteria allow 0.1" in allowed["row-missing"]
    assert "row-missing" not in names(found.survivors)


def test_records_of_json_are_mutated_where_they_stand(small: Small) -> None:
    data = {"made": "today", "quotes": [{"who": f"Writer {number}", "text": f"Word {number}"} for number in range(8)]}
    for place in (small.right / "out.json", small.folder / "tests/truth.json"):
        place.write_text(json.dumps(data))
    found = small.battery("out.json", criterion("json_leaves_match", "out.json", "at_least = 1", "truth:truth.json"),
                          more='[mutants]\naccept = { "columns-*" = "keys have no order" }\n')  # fmt: skip
    assert {"columns-swapped", "columns-shifted", "column-missing"} & names(found.refused)
    assert {"keys-sorted", "compact", "indented"} <= names(found.of(Expected.RIGHT)) - names(found.refused)
    assert "row-missing" not in names(found.survivors)


def test_a_task_states_exceptions_with_reasons(small: Small) -> None:
    (small.right / "out.csv").write_text(ROWS)
    rows = criterion("table_rows", "out.csv", "equals = 20")
    more = (
        '[mutants]\ntolerate = { "column*" = "values are made up" }\nrefuse = { "rows-shuffled" = "days in order" }\n'
    )
    found = small.battery("out.csv", rows, more=more)
    assert not {name for name in names(found.survivors) if name.startswith("column")}
    assert "rows-shuffled" in names(found.survivors)
    assert "values are made up" in {each.why for each in found.of(Expected.OPEN)}


@pytest.mark.long
def test_a_task_is_weak_where_more_survives_than_it_tolerates(small: Small) -> None:
    (small.right / "out.csv").write_text(ROWS)
    rows = criterion("table_rows", "out.csv", "equals = 20")
    weak = small.battery("out.csv", rows)
    assert weak.strength is not None
    assert weak.weak
    assert not weak.sound
    assert "weak, 0% may survive" in str(weak)
    stated = small.battery("out.csv", rows, more=f"[mutants]\ntolerance = {1 - weak.strength + 0.01:.3f}\n")
    assert stated.survivors
    assert not stated.weak
    assert stated.sound is not bool(stated.refused)


TEXT = "".join(f"The boat number {number} left the quay at dawn. It came back with fish.\n" for number in range(12))


@pytest.mark.long
def test_words_alone_let_shuffled_and_marked_up_text_survive(small: Small) -> None:
    for place in (small.right / "out.txt", small.folder / "tests/truth.txt"):
        place.write_text(TEXT)
    weak = small.battery("out.txt", criterion("token_recall", "out.txt", "at_least = 1", "truth:truth.txt"))
    assert {"words-shuffled", "markup-page", "markup-left", "doubled"} <= names(weak.survivors)
    assert "first-half" not in names(weak.survivors)
    sound = small.battery("out.txt", criterion("text_similarity", "out.txt", "at_least = 0.99", "truth:truth.txt"))
    assert sound.sound, str(sound)


def test_a_sound_that_only_has_to_open_survives_reversed_and_with_silence(small: Small) -> None:
    pytest.importorskip("soundfile")
    numpy: Any = pytest.importorskip("numpy")
    with wave.open(str(small.right / "out.wav"), "wb") as target:
        target.setparams((1, 2, 8000, 0, "NONE", ""))
        target.writeframes((numpy.random.default_rng(1).normal(0, 3000, 8000)).astype("<i2").tobytes())
    (small.folder / "tests/other.txt").write_text("x\n")
    found = small.battery("out.wav", criterion("same_bytes", "out.wav", "equals = 0", "truth:other.txt"))
    assert {"reversed", "silence-middle", "rate-double", "noise"} <= names(found.survivors)


@pytest.mark.exhaustive
def test_more_mutants_than_asked_for_are_sampled_alike(small: Small) -> None:
    (small.right / "out.csv").write_text(ROWS)
    rows = criterion("table_rows", "out.csv", "equals = 20")
    once, again = (small.battery("out.csv", rows, most=6) for _ in range(2))
    assert once == again
    assert len(once.of(Expected.WRONG)) + len(once.of(Expected.OPEN)) <= 6
    assert once.left_out > 10


def test_a_file_of_no_known_kind_has_no_mutants(small: Small) -> None:
    (small.right / "out.bin").write_bytes(b"\0\1\2")
    (small.folder / "tests/other.txt").write_text("x\n")
    found = small.battery("out.bin", criterion("same_bytes", "out.bin", "equals = 0", "truth:other.txt"))
    assert not found.mutants
    assert "no output" in str(found)


def test_strength_counts_wrong_outputs_that_could_be_judged_and_names_survivors() -> None:
    def graded(name: str, expected: Expected, outcome: Outcome) -> GradedMutant:
        return GradedMutant("out.png", name, expected, "half of it is wrong", outcome)

    battery = Battery("photo", (
        graded("grey", Expected.WRONG, Outcome.FAILED), graded("half", Expected.WRONG, Outcome.PASSED),
        graded("noise", Expected.WRONG, Outcome.INFRA_FAULT), graded("blend", Expected.OPEN, Outcome.PASSED),
        graded("format-png", Expected.RIGHT, Outcome.FAILED),
    ))  # fmt: skip
    found = battery_strength(battery, "d" * 64, "us")
    assert (found.drawn, found.counted, found.killed, found.faults, found.share) == (3, 2, 1, 1, 0.5)
    assert [each.wanted for each in found.survivors] == ["out.png: no criterion refuses it made wrong as `half`."]
    assert "1 not counted for a fault of ours" in strength_line(found)
    assert battery_strength(Battery("text", why="of no kind"), "d" * 64, "us").share is None
