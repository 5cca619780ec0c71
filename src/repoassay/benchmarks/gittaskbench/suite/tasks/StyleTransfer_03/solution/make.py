"""Gives the content image the style image's colours and, band by band, a share of its texture.

Colours by matching the channels' distributions; texture by adding the Laplacian bands of the style image, which is
enlarged to cover the content, to those of the content. No trained network is needed.
"""

import json
import sys
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

SIDE, BANDS, SHARE = 512, 5, 0.7


def matched(picture, goal):
    """The picture with every channel's values replaced, in their order, by those of the goal."""
    made = np.empty_like(picture)
    for channel in range(3):
        order = np.argsort(picture[..., channel], axis=None, kind="stable")
        values = np.sort(goal[..., channel], axis=None)
        flat = np.empty(order.size)
        flat[order] = values[np.linspace(0, values.size - 1, order.size).astype(int)]
        made[..., channel] = flat.reshape(picture.shape[:2])
    return made


def bands(picture):
    """Laplacian bands from fine to coarse, and what is left."""
    found = []
    for _ in range(BANDS):
        smaller = cv2.pyrDown(picture)
        found.append(picture - cv2.pyrUp(smaller, dstsize=picture.shape[1::-1]))
        picture = smaller
    return found, picture


def opened(name):
    picture = Image.open(Path(told["inputs"], name))
    picture.draft("RGB", (2 * SIDE, 2 * SIDE))
    return np.asarray(picture.convert("RGB"), float)


told = json.load(sys.stdin)
content, style = opened("StyleTransfer_03_input_02.jpg"), opened("StyleTransfer_03_input_01.jpg")
scale = SIDE / max(content.shape)
content = cv2.resize(content, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
height, width = content.shape[:2]
scale = max(height / style.shape[0], width / style.shape[1])
size = (int(np.ceil(style.shape[1] * scale)), int(np.ceil(style.shape[0] * scale)))
cover = cv2.resize(style, size)[:height, :width]
ours, made = bands(matched(content, style))
theirs, _ = bands(cover)
for own, added in zip(ours[::-1], theirs[::-1]):
    made = cv2.pyrUp(made, dstsize=own.shape[1::-1]) + own + SHARE * added
made = np.clip(np.rint(matched(made, style)), 0, 255).astype(np.uint8)
Image.fromarray(made).save(Path(told["output"], told["names"][0]))
