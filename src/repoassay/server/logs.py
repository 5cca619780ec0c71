"""The server's log: lines for people, or one JSON object a line for programs, which has an event for each verdict."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

from repoassay.text import block, printable

__all__ = ["configure_logs", "log_event"]

_EVENTS = logging.getLogger("repoassay.serve.events")
_LONGEST = 20_000


class _JsonLines(logging.Formatter):
    """A record as one line of ASCII, whatever is in it."""

    def format(self, record: logging.LogRecord) -> str:
        document: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": printable(record.getMessage(), _LONGEST),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            document["traceback"] = printable(self.formatException(record.exc_info), _LONGEST)
        return json.dumps(document)


class _TextLines(logging.Formatter):
    """A record as text for people: nothing that was said to us moves the cursor, or looks like another record."""

    def format(self, record: logging.LogRecord) -> str:
        return block(super().format(record)).replace("\n", "\n    ")


def configure_logs(kind: Literal["text", "json"]) -> None:
    """Log to standard error from now on: `text` for people, without events, or `json`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if kind == "json" else _TextLines("%(asctime)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    _EVENTS.disabled = kind != "json"


def log_event(name: str, **fields: str | int | float | None) -> None:
    """Log something that happened to a submission, where programs read the log.

    Args:
        name: What happened: `verdict`, `given_up` or `put_back`.
        fields: What is known of it. Never contents of patches, tokens, or the names of their holders.
    """
    _EVENTS.info(name, extra={"fields": {"event": name, **fields}})
