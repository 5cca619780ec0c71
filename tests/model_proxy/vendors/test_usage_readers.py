"""Usage in one convention, whatever the vendor says, and unknown when it says nothing usable."""

from __future__ import annotations

import math

import pytest

from repoassay.model_proxy.vendors import Chat, Gemini, Messages, Responses
from repoassay.types import Usage


def test_vendors_agree() -> None:
    expected = Usage(input=1000, output=50, cached=600, cache_write=100)
    assert (
        Messages.read_usage(
            {
                "input_tokens": 300,
                "cache_read_input_tokens": 600,
                "cache_creation_input_tokens": 100,
                "output_tokens": 50,
            }
        )
        == expected
    )
    details = {"cached_tokens": 600, "cache_write_tokens": 100}
    assert (
        Chat.read_usage({"prompt_tokens": 1000, "completion_tokens": 50, "prompt_tokens_details": details}) == expected
    )
    responses = {
        "input_tokens": 1000,
        "output_tokens": 50,
        "input_tokens_details": details,
        "output_tokens_details": None,
    }
    assert Responses.read_usage(responses) == expected


def test_reasoning_is_within_output() -> None:
    details = {"reasoning_tokens": 30}
    chat = Chat.read_usage({"prompt_tokens": 1, "completion_tokens": 50, "completion_tokens_details": details})
    gemini = Gemini.read_usage({"promptTokenCount": 1, "candidatesTokenCount": 20, "thoughtsTokenCount": 30})
    assert chat == gemini == Usage(input=1, output=50, reasoning=30)


def test_deepseek_tells_its_cache_elsewhere() -> None:
    told = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 8}
    assert Chat.read_usage(told) == Usage(input=10, output=1, cached=8)


@pytest.mark.parametrize("value", [None, -1, "5", True, 1 << 60, math.nan, math.inf, [], {}])
def test_what_is_no_count_is_unknown(value: object) -> None:
    assert Chat.read_usage({"prompt_tokens": value, "completion_tokens": 1}) is None
    assert Responses.read_usage({"input_tokens": 1, "output_tokens": value}) is None
    assert Messages.read_usage({"input_tokens": value, "output_tokens": 1}) is None
    assert Gemini.read_usage({"promptTokenCount": value}) is None
    assert Chat.read_usage({"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": value}) == Usage(
        input=5, output=1
    )
