"""Replace every word by one of a Latin filler text, line by line."""

import itertools
import json
import re
import sys
from pathlib import Path

WORDS = """lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore
magna aliqua enim minim veniam quis nostrud exercitation ullamco laboris nisi aliquip commodo consequat duis aute irure
reprehenderit voluptate velit esse cillum fugiat nulla pariatur excepteur sint occaecat cupidatat non proident sunt
culpa qui officia deserunt mollit anim est laborum"""

told = json.load(sys.stdin)
words = itertools.cycle(WORDS.split())
text = (Path(told["inputs"]) / "Faker_03_input.txt").read_text(encoding="utf-8")
fake = re.sub(r"[\w'./-]*\w", lambda _: next(words), text)
(Path(told["output"]) / told["names"][0]).write_text(fake, encoding="utf-8")
