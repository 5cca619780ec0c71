"""Tests that start a program which their image lacks pass nobody there, whatever a machine here may have."""

from __future__ import annotations

import pytest

from repoassay.interchange.absent_programs import check_started
from repoassay.interchange.image_file import ImageRecipe, ImportRefusal

ASKS = {"test_it.py": '# subprocess.run(["file"])\n\nkind = subprocess.run(["file", "/app/x"], capture_output=True)\n'}


@pytest.mark.parametrize("base", ["ubuntu:24.04", "python:3.12-slim-bookworm", "node:20-slim@sha256:2c"])
def test_a_program_that_nothing_brings_is_named_with_its_line(base: str) -> None:
    with pytest.raises(ImportRefusal, match="start file, which nothing") as refused:
        check_started(ASKS, "pytest /tests/test_it.py", ImageRecipe(base=base, apt=["gcc", "make"]))
    assert (refused.value.file, refused.value.line) == ("tests/test_it.py", 3)


@pytest.mark.parametrize(
    ("programs", "script", "image"),
    [
        (ASKS, "", ImageRecipe(base="python:3.12")),  # not a slim one
        (ASKS, "", ImageRecipe(base="debian:12", apt=["libtool"])),
        (ASKS, "apt-get install -y file", ImageRecipe(base="debian:12")),
        (ASKS, "", ImageRecipe(base="debian:12", build=["make -C /opt/file file install"])),
        ({"t.py": 'if shutil.which("file"): subprocess.run(["file"])'}, "", ImageRecipe(base="debian:12")),
        ({"t.py": 'subprocess.run(["./file"])\nopen("file")'}, "", ImageRecipe(base="debian:12")),
        ({"t.txt": ASKS["test_it.py"]}, "", ImageRecipe(base="debian:12")),
    ],
)
def test_what_may_be_there_is_let_pass(programs: dict[str, str], script: str, image: ImageRecipe) -> None:
    check_started(programs, script, image)
