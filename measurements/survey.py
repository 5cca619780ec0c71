"""What surveying 300,000 lines takes, against ast.parse, ast.walk and tokenize over the same files in the same run."""

from __future__ import annotations

import ast
import io
import shutil
import sysconfig
import tempfile
import time
import tokenize
import warnings
from pathlib import Path

from repoassay.survey import Measures, survey_repository

LINES = 300_000
_NOT_COUNTED = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER}


def collect(into: Path) -> None:
    """Copy files of the standard library, again and again if need be, until there are enough lines."""
    library = Path(sysconfig.get_path("stdlib"))
    files = [
        file
        for file in sorted(library.rglob("*.py"))
        if not {"site-packages", "test", "tests", "lib2to3"} & set(file.parts)
    ]
    lines = copy = 0
    while lines < LINES:
        for file in files:
            target = into / f"copy{copy}" / file.relative_to(library)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            lines += file.read_bytes().count(b"\n")
            if lines >= LINES:
                return
        copy += 1


def naive(folder: Path) -> tuple[int, int, int, int]:
    """Classes, functions, calls and tokens, as one would write it first."""
    classes = functions = calls = tokens = 0
    for file in folder.rglob("*.py"):
        with tokenize.open(file) as source:
            text = source.read()
        for node in ast.walk(ast.parse(text)):
            classes += isinstance(node, ast.ClassDef)
            functions += isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            calls += isinstance(node, ast.Call)
        tokens += sum(token.type not in _NOT_COUNTED for token in tokenize.generate_tokens(io.StringIO(text).readline))
    return classes, functions, calls, tokens


def agree(measures: Measures, counts: tuple[int, int, int, int]) -> str:
    """Whether both counted the same; from Python 3.12 on tokenize cuts f-strings, so tokens differ there."""
    ours = (measures.classes, measures.functions, measures.calls, measures.tokens)
    return "same counts" if ours == counts else f"counts differ: {ours} and {counts}"


def main() -> None:
    """Print seconds, lines a second, and the ratio."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="repoassay-survey-") as name:
        folder = Path(name)
        collect(folder)
        survey_repository(folder)  # not counted: brings the files into memory
        started = time.perf_counter()
        measures = survey_repository(folder).measures
        taken = time.perf_counter() - started
        started = time.perf_counter()
        counts = naive(folder)
        baseline = time.perf_counter() - started
    print(f"survey of {measures.lines:,} lines in {measures.files:,} files, one process")
    for title, seconds in (("ast.walk + tokenize (baseline)", baseline), ("survey_repository", taken)):
        rate = measures.lines / seconds
        print(f"  {title:<32} {seconds:6.2f} s {rate:9,.0f} lines/s  {baseline / seconds:4.1f} x baseline's speed")
    print(f"  {agree(measures, counts)}")


if __name__ == "__main__":
    main()
