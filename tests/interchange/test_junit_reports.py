"""JUnit files read back as what was written, and hostile ones refused before anything of them is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.errors import BadInput
from repoassay.formats import JUnitCase, JUnitSuite, junit_document, result_case
from repoassay.interchange import find_importer, import_run
from repoassay.types import Outcome


def test_what_submit_writes_is_read_back(tmp_path: Path) -> None:
    record = {"model": "some-agent", "id": "demo__one-1", "seconds": 2.5, "test_suite_feedback": "1 < 2 & \x1b"}
    messages = ("PASS", "FAIL", "PATCH FAILED", "ERROR")
    cases = [result_case({**record, "number": number, "message": word}) for number, word in enumerate(messages)]
    cases.append(JUnitCase("other", "demo__two-2#0", "skipped", "no answer"))
    (tmp_path / "report.xml").write_bytes(junit_document([JUnitSuite("repoassay submit", cases)]))
    assert find_importer(None, tmp_path / "report.xml")[0].name == "junit"
    done = import_run(None, tmp_path / "report.xml", tmp_path / "run")
    found = list(done.run.finished())
    assert [(one.attempt.task, one.attempt.agent, one.attempt.number) for one in found] == [
        *(("demo__one-1", "some-agent", number) for number in (1, 2, 3, 4)), ("demo__two-2", "other", 1),
    ]  # fmt: skip
    outcomes = [one.verdict.outcome for one in found]
    assert outcomes == [Outcome.PASSED, Outcome.FAILED, Outcome.FAILED, Outcome.NOT_GRADABLE, Outcome.NOT_GRADABLE]
    assert any("PATCH FAILED 1 < 2 &" in line for line in found[2].verdict.comments)
    assert any(line.startswith("skipped: no answer") for line in found[4].verdict.comments)
    assert any("no submission" in line for line in done.missing)


def test_nested_suites_of_others_have_times(tmp_path: Path) -> None:
    text = (
        '<testsuites><testsuite timestamp="2026-01-01T10:00:00"><testcase classname="a.b" name="t[1]" time="1.5">'
        "<failure>one</failure><error>two</error><system-out>three</system-out></testcase></testsuite></testsuites>"
    )
    (tmp_path / "x.xml").write_text(text)
    (found,) = import_run("junit", tmp_path, tmp_path / "run").run.finished()
    assert found.attempt.task == "t[1]" and found.verdict.outcome is Outcome.FAILED
    assert (found.attempt.ended - found.attempt.started).total_seconds() == 1.5
    assert not any("two" in line or "three" in line for line in found.verdict.comments)


BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>'
OUTSIDE = (
    '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite><testcase name="t">&a;</testcase></testsuite>'
)
REMOTE = '<!DOCTYPE testsuite SYSTEM "http://127.0.0.1:9/x.dtd"><testsuite><testcase name="t"/></testsuite>'


@pytest.mark.parametrize("text", [BOMB, OUTSIDE, REMOTE])
def test_documents_with_a_type_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.xml").write_text(text)
    with pytest.raises(BadInput, match="document type"):
        import_run("junit", tmp_path / "x.xml", tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("text", ["<testsuite>", "<testsuite/>", "<a>" * 100 + "</a>" * 100, "", "&lt;"])
def test_what_is_no_report_is_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.xml").write_text(text)
    with pytest.raises(BadInput):
        import_run("junit", tmp_path / "x.xml", tmp_path / "run")
