"""Published scripts for backgrounds and scratches: the values that the scripts themselves gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from repoassay.benchmarks.gittaskbench.original_criteria.descratch import (
    gtb_descratch_01,
    gtb_descratch_02,
    gtb_descratch_03,
)
from repoassay.benchmarks.gittaskbench.original_criteria.transparentbackground import (
    gtb_transparentbackground_01,
    gtb_transparentbackground_02,
    gtb_transparentbackground_03,
)
from repoassay.grading.protocol import UnreadableOutput
from shared_data import SHARED, needs_shared

pytestmark = needs_shared
INPUTS = SHARED / "data" / "queries"
BIRD, SITTER = (INPUTS / f"TransparentBackground_0{n}/input/TransparentBackground_0{n}_input.jpg" for n in (1, 2))


def test_colourfulness_of_the_bird(tmp_path: Path) -> None:
    grey = tmp_path / "output.png"
    Image.new("RGB", (16, 16), (90, 90, 90)).save(grey)
    assert gtb_transparentbackground_01(grey, BIRD).value == pytest.approx(71.40, abs=0.01)


def test_green_of_the_untouched_portrait() -> None:
    found = gtb_transparentbackground_02(SITTER, SITTER)
    assert found.value == 0
    assert "coverage 0.2" in found.comment


def test_edges_of_the_untouched_portrait() -> None:
    found = gtb_transparentbackground_03(SITTER, SITTER)
    assert found.value == 1
    assert "weaker half 11.74, change 0.000" in found.comment


def test_lines_of_the_scratched_photo() -> None:
    found = gtb_descratch_01(INPUTS / "DeScratch_01/input/DeScratch_01_input.jpeg")
    assert found.value == pytest.approx(0.00048, abs=5e-6)


def test_folders_of_outputs(tmp_path: Path) -> None:
    truth = tmp_path / "gt.png"
    Image.fromarray(np.eye(64, dtype=np.uint8) * 255).save(truth)
    folder = tmp_path / "out"
    for measure in (gtb_descratch_02, gtb_descratch_03):
        with pytest.raises(UnreadableOutput):
            measure(folder, truth)
    folder.mkdir()
    (folder / "output.png").symlink_to(truth)
    for measure in (gtb_descratch_02, gtb_descratch_03):
        with pytest.raises(UnreadableOutput):
            measure(folder, truth)
    (folder / "output.png").unlink()
    (folder / "output.png").write_bytes(truth.read_bytes())
    assert gtb_descratch_02(folder, truth).value == 1
    assert gtb_descratch_03(folder, truth).value == 1
