"""The photograph upright, corrected, and cut twice."""

import os
from pathlib import Path

from PIL import Image
from pilkit.processors import Adjust, Anchor, ProcessorPipeline, ResizeToFill, Transpose

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

with Image.open(INPUTS / "harbour.jpg") as photo:
    fixed = ProcessorPipeline([Transpose(Transpose.AUTO), Adjust(color=1.6, contrast=2.0)]).process(photo)
for name, width, height, anchor in (
    ("banner.png", 600, 250, Anchor.BOTTOM),
    ("thumb.png", 160, 160, Anchor.CENTER),
):
    ResizeToFill(width, height, anchor=anchor).process(fixed).convert("RGB").save(OUTPUT / name)
