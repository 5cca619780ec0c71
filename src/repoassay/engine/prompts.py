"""A folder of prompts over one repository, as a suite that nothing judges.

What is made lies below the folder of runs, named by its content, so that a run can be resumed when the prompts or the
repository have gone on. Each task is an ordinary edit task; its hidden test and solution say only that there is none.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.sandbox import temporary_folder
from repoassay.tasks import SuiteFolder, digest_folder, find_suite

__all__ = ["suite_of_prompts"]

_MOST = 10_000
_LARGEST = 256 * 2**10
_TEST = '"""This task came from a folder of prompts: nothing judges what an agent makes of it."""\n'
_SOLUTION = "--- /dev/null\n+++ b/NOTHING\n@@ -0,0 +1 @@\n+There is no reference solution.\n"
_SUITE = """schema = 1

[suite]
name = "prompts"
version = {version}
title = "Prompts without criteria"
description = "Made of a folder of prompts; what agents leave is kept and not judged."
licence = "unknown"
"""
_TASK = """schema = 1

[task]
id = {id}
title = {title}
kind = "edit"
domain = "Prompts"

[repository]
source = "bundled:repository"
licence = "unknown"

[grading.tests]
fail_to_pass = ["test_nothing.py::__script__"]

[limits]
seconds = 1800
memory = "4 GiB"
disk = "4 GiB"
"""


def suite_of_prompts(prompts: Path, repository: Path, runs: Path) -> SuiteFolder:
    """Make, or find again, the suite of a folder's `*.md` and `*.txt`, each the instruction of one task.

    Args:
        prompts: The folder of prompts; links and folders in it are passed over.
        repository: The folder agents work on; `.git` is left out.
        runs: Where runs are kept.

    Raises:
        BadInput: A folder is missing, there is no prompt, or one is empty, too long or not UTF-8.
    """
    for folder, option in ((prompts, "--prompts"), (repository, "--repo")):
        if not folder.is_dir():
            raise BadInput(f"{folder} is not a folder.", f"Name one with {option}.")
    texts = _texts(prompts)
    version = hashlib.sha256(json.dumps([sorted(texts.items()), _repository_digest(repository)]).encode()).hexdigest()
    place = runs / ".prompts" / version[:32]
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".part-") as part:
            whole = Path(part, "suite")
            _write(whole, texts, repository, version)
            try:
                whole.rename(place)
            except OSError:  # somebody else made the same in the meantime
                if not place.is_dir():
                    raise
    return find_suite(place)


def _texts(prompts: Path) -> dict[str, str]:
    """Task id -> prompt."""
    found: dict[str, str] = {}
    for path in sorted(prompts.iterdir()):
        if path.suffix not in (".md", ".txt") or path.is_symlink() or not path.is_file():
            continue
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.stem).strip("-._")[:60] or "prompt"
        if name in found:
            name = f"{name}-{path.suffix[1:]}"
        if path.stat().st_size > _LARGEST:
            raise BadInput(f"The prompt {path} is longer than {_LARGEST} bytes.", "Shorten it.")
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"The prompt {path} cannot be read: {error}.", "Save it as UTF-8.") from error
        if not text.strip() or "\0" in text or name in found:
            raise BadInput(f"The prompt {path} is empty, holds a NUL, or has another's name.", "Change it.")
        found[name] = text
    if not 1 <= len(found) <= _MOST:
        raise BadInput(f"The folder {prompts} holds {len(found)} prompts.", f"Put 1 to {_MOST} *.md or *.txt into it.")
    return found


def _write(into: Path, texts: dict[str, str], repository: Path, version: str) -> None:
    _copy(repository, into / "repositories" / "repository")
    (into / "suite.toml").write_text(_SUITE.format(version=json.dumps(version[:12])), "utf-8")
    for name, text in texts.items():
        folder = into / "tasks" / name
        (folder / "tests").mkdir(parents=True)
        (folder / "solution").mkdir()
        title = " ".join(name.replace("-", " ").split())
        task = _TASK.format(id=json.dumps(name), title=json.dumps(f"Prompt {title}"))
        (folder / "task.toml").write_text(task, "utf-8")
        (folder / "instruction.md").write_text(text, "utf-8")
        (folder / "tests" / "test_nothing.py").write_text(_TEST, "utf-8")
        (folder / "solution" / "changes.diff").write_text(_SOLUTION, "utf-8")


def _repository_digest(repository: Path) -> str:
    with temporary_folder("repository") as part:
        _copy(repository, Path(part, "tree"))
        return digest_folder(Path(part, "tree"))


def _copy(repository: Path, into: Path) -> None:
    try:
        shutil.copytree(repository, into, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    except shutil.Error as error:
        _, _, why = error.args[0][0]
        raise BadInput(f"The repository {repository} cannot be copied: {str(why)[:300]}.") from error
    except OSError as error:
        raise BadInput(f"The repository {repository} cannot be copied to {into}: {error.strerror}.") from error
