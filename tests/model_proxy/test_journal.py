"""The journal of calls: one line each, torn lines tolerated, secrets kept out, no links followed."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from repoassay.errors import BadInput
from repoassay.model_proxy import CallJournal
from repoassay.records.calls import read_calls
from repoassay.types import Call, Retry
from repoassay.types.usage import Usage


def call(seq: int = 1, **fields: object) -> Call:
    return Call.model_validate({"attempt": "a", "seq": seq, "at": datetime(2026, 1, 2, tzinfo=UTC), **fields})


def test_calls_come_back_as_they_went_in(tmp_path: Path) -> None:
    journal = CallJournal(tmp_path / "deep" / "usage.jsonl")
    calls = (
        call(1, usage=Usage(input=3, output=4), price=Decimal("0.1000000001"), answered=True, path="/a\nb ü"),
        call(2, retries=(Retry(status=None, fault="cut", waited=0.5),), fault="silence", whose="upstream"),
    )
    for one in calls:
        journal.append(one)
    journal.close()
    journal.append(call(3))  # a handler that outlived the session: nothing happens
    assert read_calls(journal.path).calls == calls and read_calls(journal.path).torn == ()


def test_torn_lines_are_left_out_and_do_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "usage.jsonl"
    first = CallJournal(path)
    first.append(call(1))
    first.close()
    with path.open("ab") as file:
        file.write(b'{"attempt": "a", "se')
    second = CallJournal(path)
    second.append(call(2))
    second.close()
    with path.open("ab") as file:
        file.write(b"\xff\xfe{}")
    read = read_calls(path)
    assert [one.seq for one in read.calls] == [1, 2] and read.torn == (2, 4)


def test_secrets_do_not_reach_the_file(tmp_path: Path) -> None:
    journal = CallJournal(tmp_path / "usage.jsonl", ["sk-secret", ""])
    journal.hide("later-secret")
    journal.append(call(detail="the key sk-secret", asked="later-secret"))
    journal.keep("000001", b"sk-secret in", b"later-secret out")
    journal.close()
    text = journal.path.read_text()
    assert "secret" not in text and "[key]" in text
    kept = sorted((tmp_path / "usage.bodies").iterdir())
    assert [gzip.decompress(path.read_bytes()) for path in kept] == [b"[key] in", b"[key] out"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "usage.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="it is a link"):
        CallJournal(tmp_path / "usage.jsonl")


def test_no_journal_is_an_empty_one(tmp_path: Path) -> None:
    assert read_calls(tmp_path / "none").calls == ()


@pytest.mark.parametrize(
    ("secret", "said", "kept"),
    [
        ("k", '{"task": "ok"}', '{"task": "ok"}'),
        ("null", '{"a": null}', '{"a": null}'),
        ("password", "passwords and password", "passwords and [key]"),
        ("sk-0123456789abcdef", "asked by Bearersk-0123456789abcdefx", "asked by Bearer[key]x"),
    ],
)
def test_what_is_no_key_is_left_in_what_a_model_says(tmp_path: Path, secret: str, said: str, kept: str) -> None:
    """Servers that want no key are given `x` or `EMPTY`, which are parts of other words."""
    journal = CallJournal(tmp_path / "usage.jsonl", [secret])
    assert journal.scrub(said.encode()).decode() == kept
    journal.append(call(1, served="key"))
    assert len(read_calls(journal.path).calls) == 1
