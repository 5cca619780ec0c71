"""Scripts of tests are kept as they are, but for what they install."""

from __future__ import annotations

from repoassay.interchange.verifier_script import read_verifier

RUN = """\
pip3 install pytest==8.3.4 pytest-json-ctrf==0.3.6
# ctrf.json is for people
pytest --ctrf /logs/verifier/ctrf.json /tests/test_outputs.py -rA
"""
SHARE = "python3 -c \"import json; print(json.load(open('/logs/verifier/ctrf.json')))\" > /logs/verifier/reward.txt\n"


def test_a_report_that_a_script_reads_is_written() -> None:
    found = read_verifier(RUN + SHARE, "test.sh")
    assert "pytest --ctrf /logs/verifier/ctrf.json /tests/test_outputs.py" in found.text
    assert found.pip[-1] == "pytest-json-ctrf"


def test_a_report_that_nobody_reads_is_left_out() -> None:
    found = read_verifier(f"{RUN}echo $? > /logs/verifier/reward.txt\n", "test.sh")
    assert "--ctrf" not in found.text and "pytest /tests/test_outputs.py" in found.text
