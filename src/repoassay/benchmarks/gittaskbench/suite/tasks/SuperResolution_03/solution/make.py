"""Enlarges the picture until shrinking it gives the original back (iterative back-projection), then sharpens it a little.

The method is that of Irani and Peleg, 1991, with bicubic interpolation in both directions of the correction.
"""

import json
import sys
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

FACTOR, STEPS, SHARPEN, RADIUS = 4, 12, 0.8, 1.2

told = json.load(sys.stdin)
small = np.asarray(Image.open(Path(told["inputs"], "SuperResolution_03_input.png")).convert("RGB"), np.float32)
size = (FACTOR * small.shape[1], FACTOR * small.shape[0])
large = cv2.resize(small, size, interpolation=cv2.INTER_CUBIC)
for _ in range(STEPS):
    error = small - cv2.resize(large, small.shape[1::-1], interpolation=cv2.INTER_AREA)
    large += cv2.resize(error, size, interpolation=cv2.INTER_CUBIC)
large += SHARPEN * (large - cv2.GaussianBlur(large, (0, 0), RADIUS))
Image.fromarray(np.clip(np.rint(large), 0, 255).astype(np.uint8)).save(Path(told["output"], told["names"][0]))
