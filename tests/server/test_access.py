"""Who is let in, where we listen, and how often one may ask."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from repoassay.errors import BadInput
from repoassay.server.access import NOBODY, RateLimit, Tokens, check_bind, is_loopback, parse_rate, read_tokens

PLAIN = "correct-horse-battery"
OTHER = "another-token-of-ours"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tokens.txt"
    path.write_bytes(text.encode("latin-1"))
    return path


def test_plain_and_hashed_tokens_let_in_and_name_their_holder(tmp_path: Path) -> None:
    hashed = hashlib.sha256(OTHER.encode()).hexdigest()
    tokens = read_tokens(written(tmp_path, f"# ours\r\n{PLAIN}\n\n  sha256:{hashed.upper()}  \n{PLAIN}\n"))
    holders = [tokens.holder(each) for each in (PLAIN, OTHER)]
    assert None not in holders and len(set(holders)) == 2 and NOBODY not in holders
    assert PLAIN not in str(holders)
    for wrong in (None, "", PLAIN[:-1], PLAIN + " ", hashed, f"sha256:{hashed}", "ünï\udcff", "x" * 10**6):
        assert tokens.holder(wrong) is None


def test_without_tokens_everybody_is_nobody() -> None:
    assert Tokens().holder(None) == Tokens().holder("anything") == NOBODY


@pytest.mark.parametrize(
    "text",
    ["", "# only a comment\n", "short\n", "with a space in it all\n", "sha256:1234\n", "t\xf6ken-of-some-length"],
)
def test_a_file_that_holds_no_tokens_is_a_sentence(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="token") as caught:
        read_tokens(written(tmp_path, text))
    assert "1234" not in str(caught.value)  # what may be a secret is never printed


def test_no_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_tokens(tmp_path / "absent")
    with pytest.raises(BadInput, match="cannot be read"):
        read_tokens(tmp_path)


def test_only_this_machine_may_come_in_without_tokens() -> None:
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"))
    for host in ("0.0.0.0", "::", "192.168.1.1", "example.org", "localhost.example.org", ""):
        assert not is_loopback(host)
        with pytest.raises(BadInput, match="--token-file"):
            check_bind(host, Tokens(), insecure=False)
        check_bind(host, Tokens(), insecure=True)
        check_bind(host, Tokens((b"x" * 32,)), insecure=False)


def test_a_minutes_worth_then_a_wait() -> None:
    limit = RateLimit(3)
    assert [limit.wait("a") for _ in range(3)] == [0, 0, 0]
    assert 0 < limit.wait("a") <= 20
    assert limit.wait("b") == 0
    assert all(RateLimit(None).wait("a") == 0 for _ in range(1000))


@pytest.mark.parametrize(("given", "rate"), [("600/min", 600), ("1", 1), (" 5/min ", 5), (None, None)])
def test_rates(given: str | None, rate: float | None) -> None:
    assert parse_rate(given) == rate


@pytest.mark.parametrize("given", ["", "0", "-1/min", "5/hour", "1e9", "fast", "\u0663"])
def test_no_rates(given: str) -> None:
    with pytest.raises(BadInput, match="600/min"):
        parse_rate(given)
