"""The published figures of RES-Q, recomputed."""

from __future__ import annotations

from repoassay.benchmarks.resq.papers.comparison import PAPER, PassRate


def test_resq_gap_of_the_abstract() -> None:
    scores = {row.model: row.pass_at_1 for row in PAPER.read("resq-table-02", PassRate).row}
    assert scores["Claude 3.5 Sonnet"] - scores["GPT-4o"] == 12
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
