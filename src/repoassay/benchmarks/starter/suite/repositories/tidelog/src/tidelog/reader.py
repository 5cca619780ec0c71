"""Reading log files; the format is in docs/format.md."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import xor
from pathlib import Path

from tidelog.calibration import Channel, parse_channel
from tidelog.log import Event, Fault, Log

_SAMPLE = re.compile(r"^(\+(\d{3,4})((?: \d+=(?:-?\d+|----))+)) \*([0-9a-f]{2})$")
_CALIBRATION = re.compile(r"^= (\d+)((?: (?:zero|scale)=[-+]?\d+(?:\.\d+)?)+)$")


class LogError(Exception):
    """The file is not a log this package can read."""


def checksum(text: str) -> int:
    """Exclusive-or of the bytes of an ASCII text."""
    return reduce(xor, text.encode("ascii", "replace"), 0)


def parse_offset(text: str) -> timedelta:
    """Read `+01:00` or `-03:30`."""
    match = re.fullmatch(r"([+-])(\d\d):(\d\d)", text)
    if match is None:
        raise LogError(f"{text!r} is not an offset such as +01:00")
    delta = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return -delta if match[1] == "-" else delta


def read_log(path: str | Path) -> Log:
    """Read a log file.

    Raises:
        LogError: When the header is missing or broken. Broken samples do not raise; they are in `Log.faults`.
        OSError: When the file cannot be read.
    """
    lines = Path(path).read_text(encoding="ascii", errors="replace").splitlines()
    if not lines or lines[0].split() != ["#TLOG", "2"]:
        raise LogError("does not begin with '#TLOG 2'")
    station, offset = "", timedelta()
    channels: dict[int, Channel] = {}
    for line in lines[1:]:
        key, _, rest = line.partition(" ")
        if key == "#station":
            station = rest.strip()
        elif key == "#zone":
            offset = parse_offset(rest.strip())
        elif key == "#channel":
            try:
                channel = parse_channel(rest)
            except ValueError as error:
                raise LogError(f"channel line {line!r}: {error}") from error
            channels[channel.number] = channel
    if not station or not channels:
        raise LogError("names no station or no channel")
    log = Log(station, offset, {channel.name: channel.unit for channel in channels.values()})
    _read_body(lines, channels, log)
    return log


def _read_body(lines: list[str], channels: dict[int, Channel], log: Log) -> None:
    base: datetime | None = None
    for number, line in enumerate(lines, 1):
        if line.startswith("#") or not line.strip():
            continue
        try:
            if line.startswith("@ "):
                base = _time(line[2:], log.offset)
            elif line.startswith("! "):
                log.events.append(Event(_time(line[2:18], log.offset), line[18:].strip()))
            elif line.startswith("= "):
                _calibrate(line, channels)
            else:
                _sample(line, base, channels, log)
        except ValueError as error:
            log.faults.append(Fault(number, str(error)))


def _time(text: str, offset: timedelta) -> datetime:
    """A time on the gauge's clock as UTC."""
    return (datetime.strptime(text.strip(), "%Y-%m-%d %H:%M") - offset).replace(tzinfo=UTC)


def _calibrate(line: str, channels: dict[int, Channel]) -> None:
    match = _CALIBRATION.match(line)
    if match is None or int(match[1]) not in channels:
        raise ValueError("malformed calibration")
    pairs = (pair.split("=") for pair in match[2].split())
    number = int(match[1])
    channels[number] = channels[number].adjusted(**{name: float(value) for name, value in pairs})


def _sample(line: str, base: datetime | None, channels: dict[int, Channel], log: Log) -> None:
    match = _SAMPLE.match(line)
    if match is None:
        raise ValueError("malformed sample")
    if checksum(match[1]) != int(match[4], 16):
        raise ValueError("wrong checksum")
    if base is None:
        raise ValueError("sample before any base time")
    time = base + timedelta(minutes=int(match[2]))
    for pair in match[3].split():
        number, count = pair.split("=")
        if int(number) not in channels:
            raise ValueError(f"unknown channel {number}")
        if count != "----":
            channel = channels[int(number)]
            log.samples.setdefault(channel.name, {})[time] = channel.value(int(count))
