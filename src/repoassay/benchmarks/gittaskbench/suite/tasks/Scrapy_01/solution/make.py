"""Write the quotes of the reference as an answer to the request, the fields that were asked for."""

import json
import sys
from pathlib import Path

told = json.load(sys.stdin)
lines = (Path(told["truth"]) / "gt.json").read_text(encoding="utf-8").splitlines()
quotes = [json.loads(line) for line in lines if line.strip()]
text = json.dumps([{"author": quote["author"], "text": quote["text"]} for quote in quotes], ensure_ascii=False)
(Path(told["output"]) / told["names"][0]).write_text(text, encoding="utf-8")
