"""The photo denoised by non-local means and sharpened a little."""

import json
import sys
from pathlib import Path

import cv2

asked = json.load(sys.stdin)
photo = cv2.imread(str(Path(asked["inputs"], "DeScratch_03_input.png")))
calm = cv2.fastNlMeansDenoisingColored(photo, None, 7, 9, 5, 17)
sharp = cv2.addWeighted(calm, 1.25, cv2.GaussianBlur(calm, (0, 0), 1.5), -0.25, 0)
cv2.imwrite(str(Path(asked["output"], asked["names"][0])), sharp)
