"""Invented members of a club."""

import csv
import os
import re
from datetime import date
from pathlib import Path

from faker import Faker

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

fake = Faker("de_DE")
Faker.seed(2024)
WORD = re.compile(r"[A-ZÄÖÜ][a-zäöüß]+")


def word(draw):
    """Draw until the name is a single plain word."""
    while not WORD.fullmatch(name := draw()):
        pass
    return name


def address():
    while not re.fullmatch(r"[a-z0-9]+([._-][a-z0-9]+)*@example\.(org|com|net)", mail := fake.unique.ascii_safe_email()):
        pass
    return mail


with (INPUTS / "example.csv").open(encoding="utf-8", newline="") as file:
    header = next(csv.reader(file))
members = [
    [
        f"M{number:04d}",
        word(fake.first_name),
        word(fake.last_name),
        address(),
        fake.date_between(date(1944, 1, 1), date(2005, 12, 31)).isoformat(),
        fake.date_between(date(2015, 1, 1), date(2023, 12, 31)).isoformat(),
        fake.postcode(),
        fake.city(),
        fake.unique.iban(),
        f"{fake.random_int(2400, 18000) / 100:.2f}",
    ]
    for number in range(1, 201)
]
with (OUTPUT / "members.csv").open("w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([header, *members])
