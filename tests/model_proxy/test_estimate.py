"""Estimates of prompts: near for text, bounded for pictures, quick, and corrected by what comes back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from repoassay.model_proxy.estimate import LARGEST_PROMPT, Estimator, most_tokens, raw_estimate


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


@pytest.mark.parametrize(
    "file",
    [
        {"inlineData": {"media_type": "text/plain", "mimeType": "application/pdf", "data": "JVBERi0"}},
        {"source": {"media_type": "text/plain", "mime_type": "audio/ogg", "data": "T2dnUw"}},
        {"source": {"media_type": "application/pdf", "data": "data:application/pdf;base64,JVBERi0"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "JVBERi0"}},
        {"type": "image_url", "image_url": {"url": "DATA:application/pdf;base64,JVBERi0"}},
    ],
)
def test_a_file_however_its_kind_is_said_may_fill_a_context(file: dict[str, Any]) -> None:
    assert most_tokens({"messages": [{"role": "user", "content": [file]}]}, 200) >= LARGEST_PROMPT


def test_text_and_pictures_are_bounded_by_less() -> None:
    text = {"inlineData": {"mimeType": "text/plain", "data": "SGk"}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}
    assert most_tokens({"messages": [text]}, 200) == 200
    assert 200 < most_tokens({"messages": [picture]}, 200) < LARGEST_PROMPT
