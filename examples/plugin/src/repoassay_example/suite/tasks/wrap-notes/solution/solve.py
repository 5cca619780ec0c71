import textwrap
from pathlib import Path

lines = Path("/workspace/inputs/notes.txt").read_text().splitlines()
wrapped = [part for line in lines for part in textwrap.wrap(line, 72)]
Path("/workspace/output/wrapped.txt").write_text("\n".join(wrapped) + "\n")
