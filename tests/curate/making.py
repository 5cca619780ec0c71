"""A made-up package, its draft, and a pool that holds it as if it were selected and complete."""

from __future__ import annotations

import datetime
from pathlib import Path

from repoassay.curate import SelectionResult, find_candidates, parse_rule, select_repositories
from repoassay.curate.evidence import write_toml

TODAY = datetime.date(2026, 11, 23)
_PACKAGE = {
    "tally.py": "def count(text):\n    found = {}\n    for word in text.split():\n"
    "        found[word] = found.get(word, 0) + 1\n    return found\n",
    "test_tally.py": "import tally\n\n\ndef test_count():\n    assert tally.count('a b a') == {'a': 2, 'b': 1}\n",
    "README.md": '# Tally\n\n```python\nimport tally\nprint(tally.count("a b a"))\n```\n',
    "LICENSE": "Permission is hereby granted, free of charge, to any person obtaining a copy\n",
    "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n\n'
    "[project]\n"
    'name = "tally"\nversion = "1.0"\n\n[tool.setuptools]\npy-modules = ["tally"]\n',
}
_REFERENCE = """\
import csv, os
from pathlib import Path
import tally
WORK = Path(os.environ["REPOASSAY_WORKSPACE"])
counts = tally.count((WORK / "inputs" / "words.txt").read_text())
rows = sorted(counts.items())
path = WORK / "output" / "counts.csv"
with path.open("w", newline="") as file:
    csv.writer(file).writerows([["word", "count"], *rows])
"""
_HEAD = """\
schema = 1
[task]
id = "{name}"
title = "Count words"
domain = "Text"
outputs = ["counts.csv"]
instruction = "Count the words of inputs/words.txt with tally and write counts.csv with columns word and count."
[[criterion]]
metric = "{metric}"
of = "counts.csv"
against = "truth:counts.csv"
"""
_GOOD = {
    "crlf": "path.write_bytes(path.read_bytes().replace(b'\\r\\n', b'\\n'))",
    "bom": "path.write_bytes(b'\\xef\\xbb\\xbf' + path.read_bytes())",
    "reversed": "path.write_text('word,count\\n' + ''.join(f'{w},{c}\\n' for w, c in rows[::-1]))",
    "columns": "path.write_text('count,word\\n' + ''.join(f'{c},{w}\\n' for w, c in rows))",
}
_BAD = {
    "lost": "rows = rows[1:]", "twice": "rows = rows + rows[:1]", "ones": "rows = [(w, 1) for w, c in rows]",
    "more": "rows = [(w, c + 1) for w, c in rows]", "upper": "rows = [(w.upper(), c) for w, c in rows]",
    "swapped": "rows = [(c, w) for w, c in rows]", "last": "rows = rows[:-1]", "one": "rows = rows[:1]",
}  # fmt: skip


def make_package(folder: Path) -> Path:
    """Write the package as an unpacked source distribution."""
    folder.mkdir(parents=True)
    for name, text in _PACKAGE.items():
        (folder / name).write_text(text)
    return folder


def make_pool(place: Path, *, complete: bool = True) -> Path:
    """A pool with the package, chosen; with evidence that it is complete, for an environment that is quick to build."""
    make_package(place / "candidates" / "tally")
    (place / "facts.toml").write_text('[tally]\nuploaded = "2026-05-01"\nstars = 70\nsource = "made up"\n')
    candidates = find_candidates(place / "candidates", place / "facts.toml")
    found: list[SelectionResult] = select_repositories(
        candidates, [parse_rule("language = python")], place / "pool", today=TODAY, suites={}
    )
    assert found[0].chosen
    if complete:
        environment = {"python": ">=3.11", "path": ["."]}
        write_toml(
            place / "pool/tally/completeness.toml",
            {"verdict": "complete", "why": "", "requirements": "", "environment": environment},
        )
    return place / "pool" / "tally"


def make_draft(folder: Path, metric: str = "table_cells_wrong", name: str = "tally-words") -> Path:
    """A draft with four variants to accept and eight to refuse."""
    (folder / "inputs").mkdir(parents=True)
    (folder / "inputs/words.txt").write_text("weir gauge weir sill\ngauge weir mill\n")
    (folder / "reference.py").write_text(_REFERENCE)
    text = _HEAD.format(metric=metric, name=name)
    for each, code in _GOOD.items():
        text += f'\n[[accepting]]\nname = "{each}"\nappend = """{code.replace(chr(92), chr(92) * 2)}"""\n'
    for each, code in _BAD.items():
        replaced = f'{{ "path = WORK" = "{code}\\npath = WORK" }}'
        text += f'\n[[refusing]]\nname = "{each}"\nreplace = {replaced}\n'
    (folder / "draft.toml").write_text(text)
    return folder
