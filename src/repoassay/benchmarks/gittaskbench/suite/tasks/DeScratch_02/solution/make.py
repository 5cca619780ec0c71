"""The mask of the ground truth, written anew in one channel."""

import json
import sys
from pathlib import Path

import cv2
import numpy as np

asked = json.load(sys.stdin)
truth = cv2.imread(str(Path(asked["truth"], "gt", "gt.png")), cv2.IMREAD_GRAYSCALE)
mask = np.where(truth > 128, 255, 0).astype(np.uint8)
cv2.imwrite(str(Path(asked["output"], asked["names"][0])), mask)
