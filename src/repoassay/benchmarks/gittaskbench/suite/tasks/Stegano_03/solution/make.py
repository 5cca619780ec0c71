"""Hides the text in the lowest bits of red, green and blue, behind its length and a colon."""

import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

facts = json.load(sys.stdin)
TEXT = "hidden_text"

picture = np.array(Image.open(Path(facts["inputs"], "Stegano_03_input.png")).convert("RGB"))
bits = np.unpackbits(np.frombuffer(f"{len(TEXT)}:{TEXT}".encode(), np.uint8))
values = picture.reshape(-1)
values[: bits.size] = (values[: bits.size] & 254) | bits
Image.fromarray(picture).save(Path(facts["output"], facts["names"][0]), compress_level=1)
