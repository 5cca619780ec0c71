"""Templates: always escaped, undefined names are errors, and hostile text shows what it holds."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import jinja2
from starlette.responses import HTMLResponse

from repoassay.server.review.diff import is_collapsed
from repoassay.server.review.markdown_view import markdown_html
from repoassay.server.review.markup import reflow, visible
from repoassay.stats import Figure, Interval, Proportion, Significance
from repoassay.text import block

__all__ = ["page"]


def page(name: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """Return a template filled in.

    Args:
        name: File in `templates/`.
        status: Of the answer.
        values: What the template uses.
    """
    return HTMLResponse(_ENVIRONMENT.get_template(name).render(**values), status)


def _percent(value: Proportion | float | None) -> str:
    if isinstance(value, Proportion):
        return f"{value.successes}/{value.n}" + ("" if value.value is None else f" ({100 * value.value:.0f} %)")
    return "not known" if value is None else f"{100 * value:.1f} %"


def _interval(value: Interval, scale: float = 100.0) -> str:
    if value.low is None and value.high is None:
        return "no interval"
    low, high = (("none" if end is None else f"{scale * end:.1f}") for end in (value.low, value.high))
    return f"{low} to {high}"


def _figure(value: Figure | Significance, digits: int = 2) -> str:
    number = value.value if isinstance(value, Figure) else value.p_value
    return "undefined" if number is None else f"{number:.{digits}f}"


def _p_value(value: Significance) -> str:
    if value.p_value is None:
        return "not known"
    return "p < 0.0001" if value.p_value < 0.0001 else f"p = {value.p_value:.4f}"


def _points(value: float, digits: int = 1) -> str:
    # What rounds to nothing has no sign.
    rounded = round(100 * value, digits) + 0.0
    return f"{rounded:+.{digits}f} points" if rounded else f"{0:.{digits}f} points"


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    if value < 1:
        return "not recorded" if value == 0 else "under 1 s"
    return f"{value:.0f} s" if value < 120 else f"{value / 60:.0f} min"


def _moment(value: datetime | None) -> str:
    return "" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


def _number(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{value:.{digits}f}".removesuffix(".0")


_ENVIRONMENT = jinja2.Environment(
    loader=jinja2.PackageLoader("repoassay.server.review", "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_ENVIRONMENT.tests["collapsed"] = is_collapsed
_ENVIRONMENT.filters |= {
    "figure": _figure, "interval": _interval, "markdown": markdown_html, "moment": _moment, "number": _number,
    "p_value": _p_value, "percent": _percent, "points": _points, "reflow": reflow, "seconds": _seconds, "seen": block,
    "visible": visible,
}  # fmt: skip
