"""What operators see: traces of a verdict's stages, a log for programs, a dashboard on metrics that there are."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from repoassay.errors import BadInput
from repoassay.server.logs import configure_logs
from repoassay.server.metrics import PrometheusMetrics
from repoassay.server.queue import Counts
from repoassay.server.tracing import open_tracing
from repoassay.spans import record_spans, stage_span
from server.collector import collecting
from server.serving import Process, solution

TASK = "edit-ledger-monthly"
DASHBOARD = Path(__file__).parents[2] / "deploy/grafana/repoassay-serve.json"
TOKEN = "a-token-nobody-may-read"


def queries(dashboard: Any) -> list[str]:
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def test_every_query_of_the_dashboard_is_about_metrics_that_are_exported_and_none_is_left_out() -> None:
    meters = PrometheusMetrics()
    meters.refused("quota_used")
    text = meters.text(Counts(0, 0), 2).decode()
    exported = set(re.findall(r"^(repoassay_\w+)(?:[{ ])", text, re.MULTILINE))
    labels = set(re.findall(r"[{,](\w+)=", text))
    asked = queries(json.loads(DASHBOARD.read_text()))
    named = {name for query in asked for name in re.findall(r"repoassay_\w+", query)}
    assert named and named <= exported, named - exported
    assert all(query.count("(") == query.count(")") for query in asked)
    assert {each for query in asked for each in re.findall(r"by \((\w+)\)", query)} <= labels
    families = set(re.findall(r"^# TYPE (repoassay_\w+?)(?:_total)? (?:counter|gauge|histogram)$", text, re.MULTILINE))
    without = {name for name in families if not name.endswith("_created")}
    assert {name for name in without if not any(query.find(name) >= 0 for query in asked)} == set()


@pytest.mark.exhaustive
@pytest.mark.parametrize("by", ["option", "variable"])
def test_the_stages_of_a_verdict_are_traced_and_logged_without_its_contents(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("opentelemetry.sdk")
    (tmp_path / "tokens").write_text(TOKEN)
    with collecting() as collector:
        options = ["--database", str(tmp_path / "q.sqlite"), "--token-file", str(tmp_path / "tokens")]
        if by == "option":
            options += ["--otlp", collector.url]
        else:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        with Process(*options, "--log-format", "json") as server:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            with httpx.Client(base_url=server.url, timeout=90, headers=headers) as http:
                given = {"id": TASK, "patch": solution(TASK)}
                (one,) = http.post("/v1/submissions", json=given).json()["submissions"]
                while http.get(one["url"], params={"wait": 60}).json()["status"] != "done":
                    pass
            assert server.stop() == 0
    spans = collector.spans()
    named = {each.name: each for each in spans}
    root = named["verdict"]
    stages = {"queue_wait", "layout", "apply", "oracle", "run", "record"}
    assert stages <= set(named) and set(named) - stages <= {"verdict", "canary", "proof"}
    for name in stages:
        stage = named[name]
        assert (stage.trace_id, stage.parent_span_id) == (root.trace_id, root.span_id)
        assert root.start_time_unix_nano <= stage.start_time_unix_nano <= stage.end_time_unix_nano
    told = {each.key: each.value.string_value for each in (*root.attributes, *named["record"].attributes)}
    assert told["repoassay.submission"] == one["submission"] and told["repoassay.verdict"] == "PASS"
    lines = [json.loads(line) for line in server.log if line.startswith("{")]
    (event,) = [line for line in lines if line.get("event") == "verdict"]
    assert (event["submission"], event["task"], event["verdict"]) == (one["submission"], TASK, "PASS")
    assert event["seconds"] > 0 and event["waited"] >= 0
    everything = b"".join(collector.raw) + "".join(server.log).encode()
    changed = [line for line in solution(TASK).splitlines() if line.startswith("+") and len(line) > 20]
    assert changed and TOKEN.encode() not in everything
    assert not any(line[1:].strip().encode() in everything for line in changed)


def test_nothing_of_opentelemetry_is_imported_unless_a_collector_is_named() -> None:
    program = (
        "import sys; import repoassay.cli.serve, repoassay.engine; from repoassay.server import open_tracing;"
        "open_tracing(None)(); print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    for more in ({}, {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=clean | more, check=True
        )
        assert done.stdout == "[]\n"


def test_what_is_no_collector_is_a_sentence() -> None:
    with pytest.raises(BadInput, match="no URL of a collector"):
        open_tracing("localhost:4318")


def test_a_span_of_what_fails_tells_nothing_that_was_said() -> None:
    pytest.importorskip("opentelemetry.sdk")
    with collecting() as collector:
        close = open_tracing(collector.url)
        try:
            with pytest.raises(ValueError, match="hostile"), stage_span("run", task="t"):
                raise ValueError("hostile words")
        finally:
            close()
            record_spans(None)
        [found] = collector.spans()
    assert (found.name, found.status.code) == ("run", 2) and b"hostile" not in collector.raw[0]


def test_a_line_of_the_log_is_one_json_object_whatever_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before, root.handlers = root.handlers, []
    try:
        configure_logs("json")
        try:
            int("line\nbreak")
        except ValueError:
            logging.getLogger("repoassay.serve").exception("a\nb\x1b[31m %s", "\u2028")
    finally:
        root.handlers = before
    [line] = capsys.readouterr().err.splitlines()
    found = json.loads(line)
    assert found["level"] == "error" and "\x1b" not in found["message"] and "ValueError" in found["traceback"]


def test_a_record_for_people_can_be_told_from_what_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before, root.handlers = root.handlers, []
    try:
        configure_logs("text")
        try:
            Path("\x1b[2J\x9b31m\n2026-01-01 00:00:00,000 Submission X has passed.\r\u202e").read_text()
        except OSError:
            logging.getLogger("repoassay.serve").exception("Submission\n2026-01-01 forged %s", "\x1b]0;title\x07")
    finally:
        root.handlers = before
    first, *more = capsys.readouterr().err.splitlines()
    assert first.endswith(" Submission") and more and all(line.startswith("    ") for line in more)
    assert "".join((first, *more)).isprintable()
