"""Estimates of prompts: near for text, bounded for pictures, quick, and corrected by what comes back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from repoassay.model_proxy.estimate import Estimator, raw_estimate


def chat(text: str) -> dict[str, Any]:
    return {"model": "m" * 500, "messages": [{"role": "user", "content": text}]}


def test_text_code_and_other_scripts() -> None:
    english = "The quick brown fox jumps over the lazy dog and looks for its supper. " * 100
    assert 1_700 < raw_estimate(chat(english)) < 2_200  # vendors count about 1,600
    assert 990 < raw_estimate(chat("語" * 1000)) < 1_100


def test_a_picture_is_not_counted_by_its_letters() -> None:
    letters = "A" * 1_000_000
    pictures: list[dict[str, object]] = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{letters}"}},
        {"type": "input_image", "image_url": f"data:image/png;base64,{letters}"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": letters}},
        {"inlineData": {"mimeType": "image/png", "data": letters}},
    ]
    for picture in pictures:
        assert 1_000 < raw_estimate({"messages": [{"role": "user", "content": [picture]}]}) < 1_100


@pytest.mark.parametrize("text", ["A" * 36_000, "data:" + "x" * 36_000, "data:image/png;base64," + "A" * 36_000])
def test_text_that_looks_like_a_picture_is_text(text: str) -> None:
    assert raw_estimate(chat(text)) > 9_000
    assert raw_estimate({"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]}) > 9_000


@given(st.floats(60, 1e6), st.integers(1, 10**7))
def test_corrections_stay_between_a_half_and_two(raw: float, counted: int) -> None:
    estimator = Estimator()
    estimator.learn(raw, counted)
    assert raw / 2 <= estimator.correct(raw) <= raw * 2 + 1


def test_small_prompts_teach_nothing() -> None:
    estimator = Estimator()
    estimator.learn(10, 1000)
    assert estimator.correct(100) == 101
