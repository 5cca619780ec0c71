"""Rebuilds the picture from features of it alone: the averages and gradients of a coarse grid of cells.

Every cell of eight pixels keeps its mean lightness and its mean slope in both directions, as a layer of a network keeps
few numbers for each place; the picture is put together from these as overlapping planes.
"""

import json
import sys
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

SIDE, CELL = 500, 8

told = json.load(sys.stdin)
photo = Image.open(Path(told["inputs"], "StyleTransfer_02_input.jpg")).convert("RGB")
photo.thumbnail((SIDE, SIDE))
picture = np.asarray(photo, np.float32)
height, width = picture.shape[:2]
grid = (-(-width // CELL), -(-height // CELL))
padded = cv2.copyMakeBorder(picture, 0, grid[1] * CELL - height, 0, grid[0] * CELL - width, cv2.BORDER_REPLICATE)

mean = cv2.resize(padded, grid, interpolation=cv2.INTER_AREA)
across, down = (cv2.Sobel(padded, cv2.CV_32F, *axis, scale=1 / 8) for axis in ((1, 0), (0, 1)))
across, down = (cv2.resize(each, grid, interpolation=cv2.INTER_AREA) for each in (across, down))

place = (np.arange(CELL) - (CELL - 1) / 2).astype(np.float32)
tile = np.tile(place, grid[0])[None, :, None], np.tile(place, grid[1])[:, None, None]
spread = lambda each: cv2.resize(each, padded.shape[1::-1], interpolation=cv2.INTER_NEAREST)
planes = spread(mean) + spread(across) * tile[0] + spread(down) * tile[1]
smooth = cv2.resize(mean, padded.shape[1::-1], interpolation=cv2.INTER_CUBIC)
made = cv2.GaussianBlur((planes + smooth) / 2, (0, 0), 1.0)[:height, :width]
Image.fromarray(np.clip(np.rint(made), 0, 255).astype(np.uint8)).save(Path(told["output"], told["names"][0]))
