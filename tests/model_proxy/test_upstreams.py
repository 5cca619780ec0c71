"""Upstreams: the vendors' own, a user's file, and what is refused in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.errors import BadInput
from repoassay.model_proxy import known_upstreams, split_model


def test_a_users_file_adds_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "up.toml"
    path.write_text(
        '[upstream.mine]\nbase_url = "http://10.0.0.5:8000/v1/"\n[upstream.openai]\nbase_url = "https://x/v1"\n'
    )
    known = known_upstreams([path])
    assert known["mine"].base_url == "http://10.0.0.5:8000/v1" and known["mine"].key({}) == ""
    assert known["openai"].base_url == "https://x/v1" and "anthropic" in known
    assert known["anthropic"].key({"ANTHROPIC_API_KEY": " k \n"}) == "k"


@pytest.mark.parametrize(
    "text",
    [
        '[upstream.a]\nbase_url = "ftp://x"',
        '[upstream.a]\nbase_url = "http://user:pw@x"',
        '[upstream.a]\nbase_url = "http://x?y=1"',
        '[upstream.a]\nbase_url = "http://x"\ndialects = ["smtp"]',
        '[upstream.a]\nbase_url = "http://x"\nkey = "sk-in-a-file"',
        '[upstream."A/B"]\nbase_url = "http://x"',
        "[upstream]\na = 1",
        "[other]",
        "[",
    ],
)
def test_bad_files_are_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "up.toml").write_text(text)
    with pytest.raises(BadInput, match=r"up\.toml"):
        known_upstreams([tmp_path / "up.toml"])


def test_models_name_their_provider() -> None:
    assert split_model("openrouter/anthropic/claude") == ("openrouter", "anthropic/claude")
    for bad in ("gpt-4o", "/x", "x/", ""):
        with pytest.raises(BadInput):
            split_model(bad)
