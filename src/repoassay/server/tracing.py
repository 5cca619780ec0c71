"""OpenTelemetry traces of verdicts: spans of this process sent to a collector over OTLP."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import repoassay
from repoassay.errors import BadInput, MissingExtra
from repoassay.spans import record_spans
from repoassay.text import quote

__all__ = ["open_tracing"]

_ASKED_BY = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PREFIX = "repoassay."


def open_tracing(url: str | None) -> Callable[[], None]:
    """Send spans to a collector, when one is named; without one nothing is imported.

    Args:
        url: Of the collector, to which /v1/traces is added; None for what the variables OTEL_EXPORTER_OTLP_ENDPOINT or
            OTEL_EXPORTER_OTLP_TRACES_ENDPOINT say. Every other variable of OpenTelemetry's SDK holds too.

    Returns:
        What sends the rest and ends it.

    Raises:
        BadInput: When it is no URL of http or https.
        MissingExtra: Without OpenTelemetry.
    """
    off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if off or (url is None and not any(os.environ.get(name) for name in _ASKED_BY)):
        return lambda: None
    if url is not None and not url.startswith(("http://", "https://")):
        raise BadInput(f"{quote(url)} is no URL of a collector.", "Write it as http://127.0.0.1:4318.")
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace import StatusCode
    except ImportError:
        raise MissingExtra("opentelemetry", "telemetry") from None
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "repoassay"}
    provider = TracerProvider(resource=Resource.create({**named, "service.version": repoassay.__version__}))
    exporter = OTLPSpanExporter() if url is None else OTLPSpanExporter(f"{url.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("repoassay", repoassay.__version__)

    @contextmanager
    def record(name: str, since: float | None, attributes: Mapping[str, str | int]) -> Iterator[None]:
        start = None if since is None else int(since * 1e9)
        prefixed = {_PREFIX + key: value for key, value in attributes.items()}
        # What an exception says may be a submission's words, and is not recorded.
        with tracer.start_as_current_span(
            name, attributes=prefixed, start_time=start, record_exception=False, set_status_on_exception=False
        ) as opened:
            try:
                yield
            except BaseException:
                opened.set_status(StatusCode.ERROR)
                raise

    record_spans(record)

    def close() -> None:
        record_spans(None)
        provider.shutdown()

    return close
