"""Plots as neutral values, out of tables."""

from __future__ import annotations

from repoassay.report.charts.value import Chart, ChartAxis, ChartForm, Point, Series

__all__ = ["Chart", "ChartAxis", "ChartForm", "Point", "Series"]
