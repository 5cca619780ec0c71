"""Scripts of tests are kept as they are, but for what they install."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from repoassay.interchange import verifier_script
from repoassay.interchange.verifier_script import read_verifier

CALL = 'python3 -I -c "${RUN_PYTEST:?}" alone'
RUN = """\
pip3 install pytest==8.3.4 pytest-json-ctrf==0.3.6
# ctrf.json is for people
pytest --ctrf /logs/verifier/ctrf.json /tests/test_outputs.py -rA
"""
SHARE = "python3 -c \"import json; print(json.load(open('/logs/verifier/ctrf.json')))\" > /logs/verifier/reward.txt\n"


def test_a_report_that_a_script_reads_is_written() -> None:
    found = read_verifier(RUN + SHARE, "test.sh")
    assert f"{CALL} --ctrf /logs/verifier/ctrf.json /tests/test_outputs.py" in found.text
    assert found.pip[-1] == "pytest-json-ctrf"


def test_a_report_that_nobody_reads_is_left_out() -> None:
    found = read_verifier(f"{RUN}echo $? > /logs/verifier/reward.txt\n", "test.sh")
    assert " --ctrf " not in found.text and f"{CALL} /tests/test_outputs.py" in found.text


def test_pytest_is_called_within_quotes_of_a_shells_and_within_a_substitution(tmp_path: Path) -> None:
    (tmp_path / "python3").write_text('#!/bin/sh\necho "$1 $2 ${#3} $4 $5"\n')
    (tmp_path / "python3").chmod(0o755)
    (tmp_path / "python").symlink_to("python3")
    calls = ["bash -c 'true; pytest -x'", 'bash -c "true && pytest -x"', 'A="$(pytest -x)"; echo "$A"', "uvx pytest -x"]
    script = read_verifier("\n".join(calls), "test.sh").text
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], check=True, env={"PATH": path}, capture_output=True, text=True)
    length = len(Path(verifier_script.__file__).with_name("run_pytest.py").read_text())
    assert done.stdout == f"-I -c {length} alone -x\n" * len(calls)
