"""The fortnight's agenda on Lisbon's clock."""

import csv
import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr
from icalendar import Calendar

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

HERE = ZoneInfo("Europe/Lisbon")
FIRST, AFTER = date(2024, 10, 21), date(2024, 11, 4)


def moments(value):
    """The times of an EXDATE or RDATE, which may be absent, one, or several."""
    several = value if isinstance(value, list) else [value] if value is not None else []
    return [moment.dt for dates in several for moment in dates.dts]


def occurrences(event):
    """Starts of an event, its recurrence worked out on its own clock."""
    start = event.start
    starts = {start}
    if "RRULE" in event:
        rule = event["RRULE"].to_ical().decode()
        starts = set(rrulestr(rule, dtstart=start)[:1000] if "COUNT" in rule else bounded(rule, start))
    return (starts | set(moments(event.get("RDATE")))) - set(moments(event.get("EXDATE")))


def bounded(rule, start):
    return rrulestr(rule, dtstart=start).between(start, start + timedelta(days=400), inc=True)


def row(event, start):
    place = str(event.get("LOCATION", ""))
    summary = str(event["SUMMARY"])
    if not isinstance(start, datetime):
        if start < AFTER and start + event.duration > FIRST:
            return [start.isoformat(), "", "", summary, place, "yes"]
        return None
    # real time passes, not the clock's: add the length in UTC
    begin = start.astimezone(HERE)
    length = event.end.astimezone(UTC) - event.start.astimezone(UTC)
    end = (start.astimezone(UTC) + length).astimezone(HERE)
    if FIRST <= begin.date() < AFTER:
        return [f"{begin:%Y-%m-%d}", f"{begin:%H:%M}", f"{end:%H:%M}", summary, place, "no"]
    return None


events = Calendar.from_ical((INPUTS / "yard.ics").read_bytes()).walk("VEVENT")
replaced = {(event["UID"], event["RECURRENCE-ID"].dt) for event in events if "RECURRENCE-ID" in event}
rows = []
for event in events:
    if event.get("STATUS") == "CANCELLED":
        continue
    for start in occurrences(event):
        if "RECURRENCE-ID" in event or (event["UID"], start) not in replaced:
            rows.append(row(event, start))
rows = sorted((found for found in rows if found), key=lambda cells: (cells[0], cells[5] == "no", cells[1], cells[3]))
with (OUTPUT / "agenda.csv").open("w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([["date", "start", "end", "summary", "location", "all_day"], *rows])
