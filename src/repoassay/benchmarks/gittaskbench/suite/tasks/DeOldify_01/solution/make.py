"""The photo painted by hand in broad areas: colours by place and tone, the light kept."""

import json
import sys
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

asked = json.load(sys.stdin)
photo = np.asarray(Image.open(Path(asked["inputs"], "DeOldify_01_input.jpg")).convert("RGB"))
grey = cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY)
height, width = grey.shape
tone = cv2.GaussianBlur(grey, (0, 0), width / 120).astype(np.float32) / 255
down, across = np.linspace(0, 1, height, dtype=np.float32)[:, None], np.linspace(-1, 1, width, dtype=np.float32)[None]


def share(values, centre, spread):
    """How near values are to a centre, 0 to 1."""
    return np.exp(-(((values - centre) / spread) ** 2))


areas = [  # share of each pixel, Cr, Cb: light stone and sky, plants at the sides, warm middle, cool ground
    (share(tone, 0.9, 0.25) * (1 - down), -8, 22),
    (share(tone, 0.25, 0.2) * abs(across), -26, -24),
    (share(tone, 0.55, 0.2) * (1 - abs(across)), 26, -22),
    (share(tone, 0.4, 0.3) * down, 12, 6),
]
red, blue = (sum(area[0] * area[which] for area in areas) for which in (1, 2))
painted = np.dstack([grey, np.clip(128 + red, 0, 255), np.clip(128 + blue, 0, 255)]).astype(np.uint8)
Image.fromarray(cv2.cvtColor(painted, cv2.COLOR_YCrCb2RGB)).save(Path(asked["output"], asked["names"][0]))
