"""Traces of a run as OTLP: JSON lines in a file, a trace a line, or sent to a collector as protobuf over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import repoassay
from repoassay.errors import BadInput, MissingExtra, Unavailable
from repoassay.report.exporters import ExportSource
from repoassay.report.exports.attempt_spans import AttemptSpan, SpanValue, spans_of
from repoassay.text import quote

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

__all__ = ["Otlp"]

_INTERNAL, _CLIENT = 1, 3
_FAILED = 2
_BATCH = 200


class Otlp:
    """One trace an attempt: the agent's span with the verdict as its event, its model calls, and its calls of tools."""

    title = "traces with gen_ai attributes (OTLP): JSON lines, or sent to a collector with --to URL"
    takes = ("run",)
    version = "OTLP 1, GenAI conventions of 2026 (in development)"
    lost = (
        "What was said, and patches: spans carry names and figures.",
        "Calls of tools whose time no trajectory tells, and how long a tool took.",
        "Of an imported attempt, how long a model call took.",
    )

    def export(self, source: ExportSource) -> Iterator[str]:
        """Yield a line an attempt."""
        for found in source.attempts():
            spans = [_json_span(span) for span in spans_of(found)]
            scope = {"scope": {"name": "repoassay", "version": repoassay.__version__}, "spans": spans}
            resource = {"attributes": _json_attributes(_RESOURCE)}
            yield json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}) + "\n"

    def send(self, source: ExportSource, destination: str) -> str:
        """Send them to a collector, below whose address `/v1/traces` lies; returns what was sent, as a sentence.

        Headers, certificates and time limits are what OpenTelemetry's own variables say (OTEL_EXPORTER_OTLP_...), and
        so is what else the sender is (OTEL_RESOURCE_ATTRIBUTES), by which Weave knows the project.

        Raises:
            BadInput: It is no URL.
            MissingExtra: Without OpenTelemetry.
            Unavailable: The collector did not take them.
        """
        if not destination.startswith(("http://", "https://")):
            raise BadInput(f"{quote(destination)} is no URL of a collector.", "Write it as http://127.0.0.1:4318.")
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.trace.export import SpanExportResult
        except ImportError:
            raise MissingExtra("opentelemetry", "telemetry") from None
        exporter = OTLPSpanExporter(f"{destination.rstrip('/')}/v1/traces")
        traces = count = 0
        waiting: list[ReadableSpan] = []

        def flush() -> None:
            if waiting and exporter.export(waiting) is not SpanExportResult.SUCCESS:
                raise Unavailable(
                    f"The collector at {quote(destination)} did not take the spans; {traces} traces were sent before.",
                    "Look whether it listens there; sending again makes no second trace.",
                )
            waiting.clear()

        try:
            for found in source.attempts():
                spans = [_sdk_span(span) for span in spans_of(found)]
                if len(waiting) + len(spans) > _BATCH:
                    flush()
                waiting.extend(spans)
                traces, count = traces + 1, count + len(spans)
            flush()
        finally:
            exporter.shutdown()  # type: ignore[no-untyped-call]
        return f"{traces} traces of {count} spans"


_RESOURCE: dict[str, SpanValue] = {"service.name": "repoassay", "service.version": repoassay.__version__}


def _json_span(span: AttemptSpan) -> dict[str, Any]:
    """As OTLP's JSON has it: ids in hex, 64-bit numbers as text."""
    return {
        "traceId": span.trace.hex(), "spanId": span.own.hex(), "parentSpanId": span.parent.hex(),
        "name": span.name, "kind": _CLIENT if span.outward else _INTERNAL,
        "startTimeUnixNano": str(_nanoseconds(span.begun)), "endTimeUnixNano": str(_nanoseconds(span.ended)),
        "attributes": _json_attributes(span.attributes),
        "events": [{"name": event.name, "timeUnixNano": str(_nanoseconds(event.at)),
                    "attributes": _json_attributes(event.attributes)} for event in span.events],
        "status": {"code": _FAILED, "message": span.failed} if span.failed else {},
    }  # fmt: skip


def _json_attributes(attributes: Any) -> list[dict[str, Any]]:
    return [{"key": key, "value": _json_value(value)} for key, value in attributes.items()]


def _json_value(value: SpanValue) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _sdk_span(span: AttemptSpan) -> ReadableSpan:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    def context(own: bytes) -> SpanContext:
        return SpanContext(
            int.from_bytes(span.trace), int.from_bytes(own), is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED)
        )

    return ReadableSpan(
        name=span.name, context=context(span.own), parent=context(span.parent) if span.parent else None,
        resource=Resource.create(_RESOURCE), attributes=dict(span.attributes),
        events=[Event(event.name, dict(event.attributes), _nanoseconds(event.at)) for event in span.events],
        kind=SpanKind.CLIENT if span.outward else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR, span.failed) if span.failed else Status(StatusCode.UNSET),
        start_time=_nanoseconds(span.begun), end_time=_nanoseconds(span.ended),
        instrumentation_scope=InstrumentationScope("repoassay", repoassay.__version__),
    )  # fmt: skip


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000
