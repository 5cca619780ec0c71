"""A cut-out of the bird: graph cut between what surely is bird or post and what surely is neither."""

import json
import sys
from pathlib import Path

import cv2
import numpy as np

BIRD = [(390, 172), (402, 150), (440, 132), (478, 138), (515, 172), (560, 210), (595, 250), (635, 300), (672, 345),
        (700, 378), (650, 372), (600, 362), (560, 372), (520, 368), (480, 345), (440, 318), (415, 285), (407, 250)]
AROUND = [(312, 182), (365, 148), (388, 112), (450, 95), (515, 118), (570, 180), (635, 240), (710, 335), (760, 388),
          (872, 490), (878, 535), (800, 535), (700, 500), (745, 540), (300, 540), (340, 468), (400, 425), (480, 400),
          (430, 365), (378, 310), (372, 212), (316, 202)]
POST = [(380, 460), (420, 450), (560, 480), (640, 520), (650, 539), (370, 539)]

asked = json.load(sys.stdin)
photo = cv2.imread(str(Path(asked["inputs"], "TransparentBackground_01_input.jpg")))
mask = np.full(photo.shape[:2], cv2.GC_BGD, np.uint8)
cv2.fillPoly(mask, [np.array(AROUND)], cv2.GC_PR_BGD)
cv2.fillPoly(mask, [np.array(BIRD), np.array(POST)], cv2.GC_FGD)
cv2.setRNGSeed(0)
cv2.grabCut(photo, mask, None, np.zeros((1, 65)), np.zeros((1, 65)), 3, cv2.GC_INIT_WITH_MASK)
matte = np.isin(mask, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.uint8) * 255
matte = cv2.GaussianBlur(matte, (0, 0), 0.7)
cut = (photo * (matte[..., None] / 255)).astype(np.uint8)
cv2.imwrite(str(Path(asked["output"], asked["names"][0])), np.dstack([cut, matte]))
