"""`signals.json`: bounded, whole or absent, and never replaced unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

import repoassay
from repoassay.engine.signal_files import SignalFile, keep, measured_of, read_measured, tool_versions
from repoassay.errors import BadInput
from repoassay.signals import Signal, SignalAxis, SignalEvidence, SignalState

_READERS_TAKE = 4 * 2**20


def measured(signals: tuple[Signal, ...] = ()) -> SignalFile:
    return measured_of(
        signals, attempt="01A", task="one", task_digest="0" * 64, diff_sha256="1" * 64, seconds=1.0, environment=None
    )


def loud(count: int, anchor: str) -> tuple[Signal, ...]:
    place = SignalEvidence(path="é" * 1024, line=1, quote="é" * 200, text="é" * 500, anchor=anchor)
    one = {"axis": SignalAxis.LINT, "state": SignalState.FINDING, "title": "Much", "evidence": (place,) * 50, "more": 7}
    return tuple(Signal(id=f"s{number}", **one) for number in range(count))


def test_it_reads_back_and_is_not_replaced_unasked(tmp_path: Path) -> None:
    place = tmp_path / "attempt" / "signals.json"
    assert read_measured(place) is None
    first = measured()
    keep(place, first, again=False)
    assert read_measured(place) == first
    with pytest.raises(FileExistsError):
        keep(place, measured(loud(1, "")), again=False)
    assert read_measured(place) == first
    keep(place, second := measured(loud(1, "")), again=True)
    assert read_measured(place) == second
    assert [each.name for each in place.parent.iterdir()] == ["signals.json"]


@pytest.mark.parametrize(("count", "anchor"), [(10, ""), (45, ""), (45, "%C3" * 5400)])
def test_it_is_never_longer_than_readers_take(tmp_path: Path, count: int, anchor: str) -> None:
    place = tmp_path / "signals.json"
    keep(place, measured(loud(count, anchor)), again=False)
    assert place.stat().st_size <= _READERS_TAKE
    back = read_measured(place)
    assert back is not None and len(back.signals) == count
    assert all(len(each.evidence) + each.more == 57 for each in back.signals)


def test_what_a_killed_process_left_is_in_nobodys_way(tmp_path: Path) -> None:
    place = tmp_path / "signals.json"
    (tmp_path / "signals.json.again").write_bytes(b"{")
    keep(place, measured(), again=True)
    assert read_measured(place) is not None
    assert [each.name for each in tmp_path.iterdir()] == ["signals.json"]


def test_another_schema_and_long_files_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "signals.json"
    keep(place, measured(), again=False)
    good = place.read_bytes()
    for content in (good.replace(b'"schema": 1', b'"schema": 2'), b" " * (_READERS_TAKE + 1), b"\xff", b""):
        place.write_bytes(content)
        with pytest.raises(BadInput, match="--again"):
            read_measured(place)
    place.unlink()
    place.mkdir()
    with pytest.raises(BadInput, match="--again"):
        read_measured(place)


def test_versions_are_the_environments_where_it_has_the_tool(tmp_path: Path) -> None:
    own = tool_versions(None)
    assert own["repoassay"] == repoassay.__version__
    assert tool_versions(tmp_path) == own
    info = tmp_path / "lib" / "python3.11" / "site-packages" / "Ruff-0.0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Ruff\nVersion: 0.0.1\n")
    assert tool_versions(tmp_path) == own | {"ruff": "0.0.1"}
