"""Numbers normalised, and entries that are none."""

import csv
import os
from pathlib import Path

import phonenumbers
from phonenumbers import PhoneNumberFormat, PhoneNumberType

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

KINDS = {
    PhoneNumberType.FIXED_LINE: "fixed",
    PhoneNumberType.MOBILE: "mobile",
    PhoneNumberType.FIXED_LINE_OR_MOBILE: "fixed_or_mobile",
    PhoneNumberType.TOLL_FREE: "toll_free",
    PhoneNumberType.PREMIUM_RATE: "premium",
}
good, bad, seen = [], [], set()
with (INPUTS / "contacts.csv").open(encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file):
        try:
            number = phonenumbers.parse(row["phone"], row["home"])
        except phonenumbers.NumberParseException:
            number = None
        if number is None or not phonenumbers.is_valid_number(number):
            bad.append([row["id"], row["phone"]])
            continue
        e164 = phonenumbers.format_number(number, PhoneNumberFormat.E164)
        extension = number.extension or ""
        if (e164, extension) in seen:
            continue
        seen.add((e164, extension))
        region = phonenumbers.region_code_for_number(number)
        kind = KINDS.get(phonenumbers.number_type(number), "other")
        good.append([row["id"], e164, region, kind, extension])
for name, header, rows in (
    ("numbers.csv", ["id", "e164", "region", "kind", "extension"], good),
    ("rejected.csv", ["id", "phone"], bad),
):
    with (OUTPUT / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
