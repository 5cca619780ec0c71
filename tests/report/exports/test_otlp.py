"""Traces reach a real OTLP collector as protobuf, and a file of them says the same."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from command_line import repoassay as command_line
from mini_runs import DIFF, write_run
from repoassay.interchange import import_run
from repoassay.model_proxy import CallJournal
from repoassay.records import RunFolder, to_json
from repoassay.types import Call, Observation, Source, StepCall, Trajectory, TrajectoryStep, Usage

PEERS = {"otel": "opentelemetry-proto"}


def export(run: Path, *arguments: str, **environment: str) -> CompletedProcess[str]:
    return command_line("export", str(run), *arguments, cwd=run.parent, env=environment)


class Collector:
    """Takes what an exporter posts and decodes it as OTLP says."""

    def __init__(self, status: int = 200) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        collector = self
        self.requests: list[Any] = []
        self.headers: list[dict[str, str]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                collector.requests.append((self.path, ExportTraceServiceRequest.FromString(body)))
                collector.headers.append(dict(self.headers))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def spans(self) -> list[Any]:
        return [
            span
            for _, request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.close()


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A run of two attempts, of which one has a journal of the model proxy with a call that failed."""
    import_run(None, write_run(tmp_path / "theirs", {"demo__one-1": DIFF, "demo__two-2": ""}), tmp_path / "run")
    first = next(RunFolder(tmp_path / "run").finished())
    journal = CallJournal(first.folder / "usage.jsonl")
    about = {"attempt": first.attempt.id, "dialect": "messages", "asked": "some-model", "served": "some-model-2"}
    at = datetime(2026, 11, 1, tzinfo=UTC)
    journal.append(Call(seq=1, at=at, seconds=2.5, first_byte=0.5, status=200, forwarded=True, answered=True,
                        usage=Usage(input=100, output=10, cached=40), price=Decimal("0.01"), **about))  # fmt: skip
    journal.append(Call(seq=2, at=at, seconds=0.1, status=429, forwarded=True, fault="rate_limited", **about))
    return tmp_path / "run"


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def test_a_collector_takes_one_trace_an_attempt(made: Path, collector: Collector) -> None:
    done = export(made, "--as", "otel", "--to", collector.url, OTEL_EXPORTER_OTLP_HEADERS="x-token=abc")
    assert done.returncode == 0, done.stderr
    assert "2 traces of 4 spans" in done.stderr
    assert {path for path, _ in collector.requests} == {"/v1/traces"}
    assert collector.headers[0]["x-token"] == "abc"
    spans = collector.spans()
    roots = [span for span in spans if not span.parent_span_id]
    assert len(roots) == len({span.trace_id for span in spans}) == 2
    calls = [span for span in spans if span.parent_span_id]
    assert {span.parent_span_id for span in calls} == {roots[0].span_id}
    told = attributes(calls[0])
    assert told["gen_ai.operation.name"] == "chat" and told["gen_ai.provider.name"] == "anthropic"
    assert (told["gen_ai.request.model"], told["gen_ai.usage.input_tokens"]) == ("some-model-2", 100)
    assert told["repoassay.dollars"] == pytest.approx(0.01)
    assert calls[0].end_time_unix_nano - calls[0].start_time_unix_nano == 2_500_000_000
    assert attributes(calls[1])["error.type"] == "rate_limited" and calls[1].status.code == 2
    (event,) = roots[1].events
    assert event.name == "gen_ai.evaluation.result"
    judged = {each.key: each.value for each in event.attributes}
    assert judged["gen_ai.evaluation.score.label"].string_value == "fail"
    assert judged["gen_ai.evaluation.score.value"].double_value == 0.0
    first = {each.key: each.value.string_value for each in roots[0].events[0].attributes}
    assert first["gen_ai.evaluation.score.label"] == "unknown" and "gen_ai.evaluation.score.value" not in first


def test_calls_of_tools_are_spans_without_what_was_said(made: Path, collector: Collector) -> None:
    first = next(RunFolder(made).finished())
    at = datetime(2026, 11, 1, tzinfo=UTC)
    calls = (
        StepCall(id="c1", name="bash\x1b[2J", arguments={"command": "cat the-secret"}),
        StepCall(id="c2", name="edit"),
    )
    seen = (Observation(call="c1", text="the-secret"), Observation(call="c2", text="no", failed=True))
    steps = (
        TrajectoryStep(index=1, source=Source.AGENT, time=at, calls=calls, observations=seen, usage=Usage(input=1)),
        TrajectoryStep(index=2, source=Source.AGENT, calls=calls[:1]),  # nobody knows when
    )
    (first.folder / "trajectory.json").write_bytes(to_json(Trajectory(agent="a", steps=steps)))
    done = export(made, "--as", "otel", "--to", collector.url)
    assert done.returncode == 0, done.stderr
    tools = [span for span in collector.spans() if span.name.startswith("execute_tool")]
    told = [attributes(span) for span in tools]
    assert [each["gen_ai.tool.call.id"] for each in told] == ["c1", "c2"]
    assert [each["gen_ai.operation.name"] for each in told] == ["execute_tool"] * 2
    assert "\x1b" not in told[0]["gen_ai.tool.name"] and told[1]["gen_ai.tool.name"] == "edit"
    assert (tools[0].status.code, tools[1].status.code) == (0, 2)
    root = next(span for span in collector.spans() if span.span_id == tools[0].parent_span_id)
    assert not root.parent_span_id and root.trace_id == tools[0].trace_id
    assert not any("secret" in str(span) for span in collector.spans())
    assert len({span.span_id for span in collector.spans()}) == len(collector.spans()) == 6


def test_a_file_says_what_the_collector_was_told(made: Path, collector: Collector, tmp_path: Path) -> None:
    done = export(made, "--as", "otel", "--out", str(tmp_path / "traces.jsonl"))
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "traces.jsonl").read_text().splitlines()]
    written = [span for line in lines for part in line["resourceSpans"] for span in part["scopeSpans"][0]["spans"]]
    assert export(made, "--as", "otel", "--to", collector.url).returncode == 0
    sent = collector.spans()
    assert [span["spanId"] for span in written] == [span.span_id.hex() for span in sent]
    assert [span["traceId"] for span in written] == [span.trace_id.hex() for span in sent]
    assert [int(span["endTimeUnixNano"]) for span in written] == [span.end_time_unix_nano for span in sent]
    assert [{each["key"] for each in span["attributes"]} for span in written] == [set(attributes(s)) for s in sent]
    assert DIFF not in (tmp_path / "traces.jsonl").read_text(), "spans never hold a patch"


@pytest.mark.long
def test_what_cannot_be_sent_is_a_sentence(made: Path, tmp_path: Path) -> None:
    refusing = Collector(status=400)
    done = export(made, "--as", "otel", "--to", refusing.url)
    refusing.close()
    assert done.returncode not in (0, 1) and "did not take the spans" in done.stderr
    assert "Traceback" not in done.stderr
    assert "no URL" in export(made, "--as", "otel", "--to", "here").stderr
    assert "sent nowhere" in export(made, "--as", "csv", "--to", "http://127.0.0.1:1").stderr
    assert export(made, "--as", "otel").returncode == 2


WEAVE = {
    "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.request.model", "gen_ai.operation.name",
}  # fmt: skip
"""What Weave's server takes tokens, model and kind from (ATTRIBUTE_KEYS and USAGE_KEYS of its trace server, 2026)."""


def test_weave_and_langfuse_find_what_they_read(made: Path, collector: Collector) -> None:
    done = export(
        made, "--as", "otel", "--to", collector.url, OTEL_RESOURCE_ATTRIBUTES="wandb.entity=me,wandb.project=p"
    )
    assert done.returncode == 0, done.stderr
    resource = {
        each.key: each.value.string_value for each in collector.requests[0][1].resource_spans[0].resource.attributes
    }
    assert (resource["wandb.entity"], resource["wandb.project"]) == ("me", "p")
    assert resource["service.name"] == "repoassay"
    spans = collector.spans()
    root, call = (
        next(attributes(span) for span in spans if bool(span.parent_span_id) is below) for below in (False, True)
    )
    assert call.keys() >= WEAVE and root["gen_ai.agent.name"]
    # Langfuse: dollars by this name; tokens as parts that add up, of the calls alone.
    assert call["gen_ai.usage.cost"] == pytest.approx(0.01) and "gen_ai.usage.cost" not in root
    parts = json.loads(call["langfuse.observation.usage_details"])
    assert parts == {"input": 60, "input_cached_tokens": 40, "input_cache_creation": 0, "output": 10}
    assert json.loads(root["langfuse.observation.usage_details"]) == {}
