"""Plots as neutral values, out of tables."""

from __future__ import annotations

from repoassay.report.charts.value import Axis, Chart, Form, Point, Series

__all__ = ["Axis", "Chart", "Form", "Point", "Series"]
