"""The three codes."""

import json
import os
from pathlib import Path

import segno
from segno import helpers

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

codes = json.loads((INPUTS / "codes.json").read_text(encoding="utf-8"))
wifi, contact = codes["guest_wifi"], codes["contact"]

network = helpers.make_wifi_data(wifi["ssid"], wifi["password"], wifi["security"], wifi["hidden"])
card = helpers.make_vcard_data(
    contact["name"], contact["display"], email=contact["email"], phone=contact["phone"], url=contact["url"]
)
for name, content, error, version, scale, border, dark in (
    ("wifi.png", network, "Q", None, 8, 4, "#1b3a57"),
    ("contact.png", card, "M", None, 5, 4, "#000000"),
    ("berth.png", codes["berth"]["text"], "M", 5, 10, 2, "#7a1f1f"),
):
    code = segno.make_qr(content, error=error, version=version, boost_error=False)
    code.save(str(OUTPUT / name), scale=scale, border=border, dark=dark, light="white")
