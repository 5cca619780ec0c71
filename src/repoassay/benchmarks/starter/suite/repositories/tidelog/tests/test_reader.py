from datetime import UTC, datetime, timedelta

import pytest

from tidelog import LogError, read_log
from tidelog.reader import checksum

HEAD = "#TLOG 2\n#station X\n#zone +01:00\n#channel 1 name=level unit=m scale=0.001\n"


def line(text: str) -> str:
    return f"{text} *{checksum(text):02x}\n"


def write(folder, body: str):
    path = folder / "a.tlog"
    path.write_text(HEAD + body)
    return path


def test_times_are_utc_and_counts_are_scaled(tmp_path):
    log = read_log(write(tmp_path, "@ 2024-03-01 06:00\n" + line("+010 1=1500")))
    assert list(log.series("level")) == [(datetime(2024, 3, 1, 5, 10, tzinfo=UTC), 1.5)]


def test_a_calibration_holds_for_what_follows(tmp_path):
    body = "@ 2024-03-01 06:00\n" + line("+000 1=1000") + "= 1 zero=0.5\n" + line("+010 1=1000")
    assert read_log(write(tmp_path, body)).series("level").values == [1.0, 1.5]


def test_a_wrong_checksum_is_a_fault(tmp_path):
    log = read_log(write(tmp_path, "@ 2024-03-01 06:00\n+000 1=1000 *00\n"))
    assert [fault.reason for fault in log.faults] == ["wrong checksum"]
    assert len(log.series("level")) == 0


def test_gaps(tmp_path):
    body = "@ 2024-03-01 06:00\n" + line("+000 1=1") + line("+010 1=2") + line("+090 1=3")
    gaps = read_log(write(tmp_path, body)).series("level").gaps(timedelta(minutes=30))
    assert [gap.length for gap in gaps] == [timedelta(minutes=80)]


def test_a_file_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "b.tlog"
    path.write_text("hello\n")
    with pytest.raises(LogError):
        read_log(path)
