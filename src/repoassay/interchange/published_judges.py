"""Programs of an image that judge: where a test script runs one, it is run as it was published."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path, PurePosixPath

from repoassay.interchange.harbor_tests import TaskTests
from repoassay.interchange.image_file import ImageRecipe, absolute_place

__all__ = ["publish_judges"]

_JUDGES = re.compile(
    r"(?i)(^|[_-])(tests?|grad(er?|ing)|verif(y|ier)|judge|scor(er?|ing)|check(er)?|eval(uat(e|or))?)([_-]\w+)*"
    r"\.(py|sh|js|mjs|rb|pl)$"
)
_RUN = re.compile(r"(?:^|[\s;&|(])(?:python[\d.]*|bash|sh|node|pytest|ruby|perl)[ \t]+(?:-\S+[ \t]+)*([\w./+-]+)")
_REMARKS = re.compile(r"(?m)^\s*#.*$")
_MOST_BYTES = 2**20


def publish_judges(tests: TaskTests, image: ImageRecipe, instruction: str, solution: Path | None) -> TaskTests:
    """Put back what judges, before it does: unless the task's own texts name it, in which case it may be the work.

    Args:
        tests: Of the task.
        image: Whose files the agent has.
        instruction: What the agent is told.
        solution: A folder or file; None without.
    """
    if tests.runner != "script" or not tests.ids:
        return tests
    script = tests.ids[0].partition("::")[0]
    name = next((each for each in ("run-tests.sh", script) if each in tests.files), script)
    solved = [solution, *solution.rglob("*")] if solution else []
    public = "\n".join([instruction, *(_text(path) for path in solved if path.is_file())])
    text = tests.files.get(name, "")
    lines: list[str] = []
    files = dict(tests.files)
    for place in dict.fromkeys(absolute_place(image.work, word) for word in _RUN.findall(_REMARKS.sub("", text))):
        own, file = PurePosixPath(place).name, image.files.get(place)
        if file is None or not _JUDGES.search(own) or own in public or not _text(file):
            continue
        if re.search(rf"(?m)^mkdir .* && cp --remove-destination \S+ {re.escape(shlex.quote(place))}$", text):
            continue  # the tests have it too
        kept = f"published-{len(lines)}-{own}"
        files[kept] = _text(file)
        where = shlex.quote(place)
        lines.append(f'rm -rf {where}; mkdir -p "$(dirname {where})" && cp {shlex.quote(f"/tests/{kept}")} {where}\n')
    return replace(tests, files={**files, name: "".join(lines) + text}) if lines else tests


def _text(file: Path) -> str:
    """What a file says; nothing of a link, or one that is too large."""
    return "" if file.is_symlink() or file.stat().st_size > _MOST_BYTES else file.read_text("utf-8", "replace")
