"""The video painted by hand in broad areas: colours by place and tone, the light kept."""

import json
import sys
from pathlib import Path

import cv2
import numpy as np


def share(values, centre, spread):
    """How near values are to a centre, 0 to 1."""
    return np.exp(-(((values - centre) / spread) ** 2))


def painted(grey):
    """A frame (height, width) in colour: bluish stone above, warm ground, brown doors and clothes."""
    tone = cv2.GaussianBlur(grey, (0, 0), 4).astype(np.float32) / 255
    down = np.linspace(0, 1, grey.shape[0], dtype=np.float32)[:, None]
    stone, ground, dark = share(tone, 0.8, 0.3) * (1 - down), share(tone, 0.7, 0.3) * down, share(tone, 0.1, 0.2)
    red = 128 - 14 * stone + 18 * ground + 16 * dark
    blue = 128 + 26 * stone - 28 * ground - 14 * dark
    stack = np.dstack([grey, np.clip(red, 0, 255), np.clip(blue, 0, 255)]).astype(np.uint8)
    return cv2.cvtColor(stack, cv2.COLOR_YCrCb2BGR)


asked = json.load(sys.stdin)
source = cv2.VideoCapture(str(Path(asked["inputs"], "DeOldify_03_input.mp4")))
size = int(source.get(cv2.CAP_PROP_FRAME_WIDTH)), int(source.get(cv2.CAP_PROP_FRAME_HEIGHT))
place = str(Path(asked["output"], asked["names"][0]))
made = cv2.VideoWriter(place, cv2.VideoWriter_fourcc(*"mp4v"), source.get(cv2.CAP_PROP_FPS), size)
while True:
    found, frame = source.read()
    if not found:
        break
    made.write(painted(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)))
made.release()
