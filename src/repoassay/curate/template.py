"""The template of a draft that the command writes for a person: every key with a comment."""

from __future__ import annotations

import json
from pathlib import Path

from repoassay.curate.draft_file import ACCEPTING, DRAFT, REFUSING
from repoassay.curate.pool import PooledRepository

__all__ = ["example_draft", "write_template"]

_DRAFT = '''\
# A deliverable task of {name}: files in, files out, made with the repository. Fill in and run the command again.
# Beside this file: inputs/ (what the agent is given, written by you), reference.py (the program that does it).
schema = 1
reference = "reference.py"

[task]
id = "{name}-..."                       # letters, digits, '-'
title = "..."
domain = "..."                          # such as Office documents, Measurements, Web pages
modality = "text"                       # text, table, image, audio, video
licence = "Apache-2.0"                  # of what you write here
provenance = "inputs invented by ..."
outputs = ["result.csv"]
# Name every input and every output, and every decision a reader would otherwise have to guess.
instruction = """
In inputs/... you find ... Using {package}, write result.csv with the columns ...
"""

# Criteria without thresholds: these are measured. `repoassay metrics` lists the metrics. A file that opens is asked
# for by itself. Each output to refuse must miss by at least 20 % in one of them.
[[criterion]]
metric = "table_cells_wrong"            # truth:NAME is what reference.py makes
of = "result.csv"
against = "truth:result.csv"
why = "..."

# At least {accepting} outputs to accept (the reference's own is one): right answers that look different.
[[accepting]]
name = "other-order"
replace = {{ "sorted(rows)" = "sorted(rows, reverse=True)" }}   # text of reference.py -> other text

[[accepting]]
name = "windows-line-ends"
append = """
path = OUTPUT / "result.csv"
path.write_bytes(path.read_bytes().replace(b"\\\\n", b"\\\\r\\\\n"))
"""

# At least {refusing} outputs to refuse: near misses that somebody would really hand in.
[[refusing]]
name = "first-record-lost"
replace = {{ "sorted(rows)" = "sorted(rows)[1:]" }}
why = "an off-by-one"

[[refusing]]
name = "by-hand"
program = "wrong/by_hand.py"            # or a program of its own, or files = "wrong/by-hand/"
'''
_REFERENCE = '''\
"""Makes the right outputs, with the repository."""

import os
from pathlib import Path

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"
'''


def example_draft() -> str:
    """The template for no repository in particular."""
    return _DRAFT.format(name="example", package="example", accepting=ACCEPTING, refusing=REFUSING)


def write_template(pooled: PooledRepository, folder: Path) -> Path:
    """Write a commented draft.toml, an empty reference program and the folder of inputs; what is there stays."""
    (folder / "inputs").mkdir(parents=True, exist_ok=True)
    package = json.dumps(pooled.source.get("package") or pooled.name)[1:-1]
    text = _DRAFT.format(name=pooled.name, package=package, accepting=ACCEPTING, refusing=REFUSING)
    for name, content in ((DRAFT, text), ("reference.py", _REFERENCE)):
        if not (folder / name).exists():
            (folder / name).write_text(content, "utf-8")
    return folder / DRAFT
