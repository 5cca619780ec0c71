"""What all pages share: how their templates are filled in, what their policy allows, and how they are written."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import os
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from repoassay.agents import exit_meaning
from repoassay.errors import BadInput
from repoassay.records import AttemptStatus
from repoassay.report import figures
from repoassay.report.money import sentence
from repoassay.report.outcomes import outcome_label
from repoassay.text import block, clip, code_point, one_line

__all__ = ["environment", "escape_value", "policy_hash", "source", "write_whole"]


def _escape(text: str) -> str:
    return block(text.replace("\r\n", "\n"), code_point)


def escape_value(value: object) -> object:
    """Make a string filled into a template harmless to read; leave markup and other values to jinja2."""
    return _escape(value) if type(value) is str else value


@functools.cache
def environment() -> Environment:
    """Templates with autoescape, in which every string filled in is made harmless to read; each compiled once."""
    jinja = Environment(
        loader=PackageLoader("repoassay.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=escape_value,
    )
    filters: dict[str, Any] = {
        "ending": exit_meaning,
        "clip": lambda text, most: clip(_escape(text[: most + 1]), most),
        "line": one_line,
        "outcome_label": outcome_label,
        **{name: getattr(figures, name) for name in figures.__all__},
        "account": sentence,
        "host_fact": _host_fact,
        "dollar": lambda amount: figures.cost(amount, Decimal(0)),
        "whole": lambda value: "unknown" if value is None else f"{value:,.0f}",
    }
    jinja.filters.update(filters)
    jinja.globals.update(
        Standing=AttemptStatus,
        answer={True: "yes", False: "no", None: "unknown"},
    )
    return jinja


def _host_fact(value: str) -> str:
    """What a plan says of its machine; bytes as one reads them."""
    count, _, unit = value.partition(" ")
    known = unit == "bytes" and count.isascii() and count.isdigit() and len(count) < 20  # what no machine has is text
    return figures.size(int(count)) if known else value


def source(jinja: Environment, name: str) -> str:
    """A file of ours beside the templates, nothing filled in."""
    assert jinja.loader is not None
    return "\n" + jinja.loader.get_source(jinja, name)[0]


def policy_hash(text: str) -> str:
    """A Content-Security-Policy source: only exactly this text may run."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def write_whole(target: Path, content: bytes, option: str) -> None:
    """Write a derived file, whole or not at all, replacing an earlier one.

    Raises:
        BadInput: When it cannot be written there; the remedy names `option`.
    """
    part = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".report-", delete=False) as stream:
            part = Path(stream.name)
            stream.write(content)
        part.chmod(0o644)
        os.replace(part, target)  # noqa: PTH105 - replaces a link itself, not what it points to
    except OSError as error:
        if part is not None:
            with contextlib.suppress(OSError):
                part.unlink()
        raise BadInput(
            f"The page cannot be written to {target}: {error.strerror}.", f"Name another place with {option}."
        ) from error
