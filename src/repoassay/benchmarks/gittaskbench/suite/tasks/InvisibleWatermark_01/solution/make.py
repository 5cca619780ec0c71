"""Marks the picture in the wavelet domain of U, as the repository's way dwtDct does, with a message of 256 bits.

The text is padded with zeros to 32 bytes: that is the one length the published script reads, and any reader that knows
the length of the message reads it too.
"""

import json
import sys
from pathlib import Path

import cv2
import numpy as np

STEP, BLOCK = 36.0, 4
MESSAGE = b"invisible".ljust(32, b"\0")

facts = json.load(sys.stdin)
picture = cv2.imread(str(Path(facts["inputs"], "InvisibleWatermark_01_input.png")))
height, width = (size // 4 * 4 for size in picture.shape[:2])
yuv = cv2.cvtColor(picture, cv2.COLOR_BGR2YUV)
plane = yuv[:height, :width, 1].astype(float)
low = (plane[::2, ::2] + plane[::2, 1::2] + plane[1::2, ::2] + plane[1::2, 1::2]) / 2

rows, columns = low.shape[0] // BLOCK, low.shape[1] // BLOCK
blocks = low[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK).transpose(0, 2, 1, 3)
values = blocks.reshape(rows * columns, BLOCK * BLOCK).copy()
bits = np.resize(np.unpackbits(np.frombuffer(MESSAGE, np.uint8)), len(values))
each = np.arange(len(values))
largest = 1 + np.abs(values[:, 1:]).argmax(axis=1)
old = values[each, largest]
values[each, largest] = np.copysign((np.abs(old) // STEP + 0.25 + 0.5 * bits) * STEP, old)

marked = low.copy()
marked[: rows * BLOCK, : columns * BLOCK] = (
    values.reshape(rows, columns, BLOCK, BLOCK).transpose(0, 2, 1, 3).reshape(rows * BLOCK, columns * BLOCK)
)
# A change of the approximation is spread evenly over the four pixels it stands for.
plane += np.kron(marked - low, np.ones((2, 2))) / 2
yuv[:height, :width, 1] = np.clip(plane, 0, 255).astype(np.uint8)
cv2.imwrite(
    str(Path(facts["output"], facts["names"][0])),
    cv2.cvtColor(yuv, cv2.COLOR_YUV2BGR),
    [cv2.IMWRITE_PNG_COMPRESSION, 1],
)
