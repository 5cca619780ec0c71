"""Write the article of the reference without the posts it is related to."""

import json
import sys
from pathlib import Path

told = json.load(sys.stdin)
text = (Path(told["truth"]) / "gt.txt").read_text(encoding="utf-8")
article = text.partition("\nRelated posts\n")[0].strip()
(Path(told["output"]) / told["names"][0]).write_text(article + "\n", encoding="utf-8")
