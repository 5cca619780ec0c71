"""Folders with a task.toml that Harbor passes over, cannot start or gets no verdict from, which are no tasks."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.interchange.image_file import ImportRefusal, read_instructions, without_registry
from repoassay.interchange.image_toolchains import tool_chain_of
from repoassay.interchange.pytest_script import check_reward

__all__ = ["refusal_of_harbor"]

_MOST_TEXT = 2**20
_REWARD = re.compile(r"/logs/verifier(/reward|(?!/\w))|rewardkit", re.IGNORECASE)
"""Where Harbor looks for a reward, and what writes it there without being told."""
_COPIED = re.compile(r"(?:--(?:chown|chmod)=\S+ +)*(?P<words>[^-\[$<*?\n][^\[$<*?\n]*)")
"""What COPY names plainly: no stage, list, variable, heredoc or pattern."""
_PIP = re.compile(r"\b(?:python3?[\d.]* -m )?pip3?[\d.]* install\b")
_OTHERWISE = re.compile(r"\b(?:ensurepip|install|apt|apt-get|uvx?|conda|mamba|curl|wget|source)\b")
"""What could bring pytest, or pip, without pip."""


def refusal_of_harbor(folder: Path) -> ImportRefusal | None:
    """Why Harbor has no task in a folder with a task.toml, by its own rules (0.24); None where it may have one."""
    if (folder / "task.yaml").is_file() and not (folder / "environment").is_dir():
        return None  # of terminal-bench 1
    try:
        about = tomllib.loads((folder / "task.toml").read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = "Harbor passes it over: its task.toml is no TOML, as that of a template."
        return ImportRefusal(why, "task.toml", 0, str(error))
    if not about.get("steps"):
        if not (folder / "instruction.md").exists():
            return ImportRefusal("Harbor passes it over: it has no instruction.md.", "instruction.md")
        scripts = (folder / "tests" / name for name in ("test.sh", "test.bat"))
        if not _table(about, "verifier").get("environment") and not any(script.exists() for script in scripts):
            return ImportRefusal("Harbor passes it over: it has no test script.", "tests/test.sh")
    place = folder / "environment"
    named = _table(about, "environment").get("docker_image")
    if not named and not any((place / name).exists() for name in ("Dockerfile", "docker-compose.yaml")):
        why = "Harbor cannot start it: it has no Dockerfile, no compose file and no image."
        return ImportRefusal(why, "environment/Dockerfile")
    if named or (place / "docker-compose.yaml").exists():
        return None
    if missing := _missing(place):
        return missing
    if about.get("steps"):
        return None
    own_image = (folder / "tests/Dockerfile").exists() or _table(about, "verifier").get("environment")
    return _unrewarded(folder) or (None if own_image else _without_pytest(folder))


def _without_pytest(folder: Path) -> ImportRefusal | None:
    """Tests whose reward is what pytest said, and whose script installs it by a pip that their image lacks."""
    script = "".join(_texts(folder / "tests/test.sh"))
    steps = [step for text in _texts(folder / "environment/Dockerfile") for step in read_instructions(text)]
    bases = [without_registry(step.rest.split()[0]) for step in steps if step.word == "FROM"]
    # Of Ubuntu and Debian the Python that apt installs comes without pip, which is a package by itself.
    if len(bases) != 1 or not re.match(r"(ubuntu|debian)(:|@|$)", bases[0]):
        return None
    code = re.sub(r"(?m)^\s*#.*", "", script)
    brings = re.search(r"pip|pytest|\buv\b|conda|--from=", "\n".join(_texts(folder / "environment")))
    if brings or not _PIP.search(code) or _OTHERWISE.search(_PIP.sub("", code)):
        return None
    try:
        check_reward(script, "tests/test.sh")
    except ImportRefusal:
        return None
    why = "Harbor passes nobody: its test script installs pytest by a pip that its image does not have."
    return ImportRefusal(why, "tests/test.sh")


def _unrewarded(folder: Path) -> ImportRefusal | None:
    """Tests none of which writes a reward, in an image that brings no program which could."""
    images = [step.rest.split()[:1] for text in _texts(folder / "environment/Dockerfile")
              for step in read_instructions(text) if step.word == "FROM"]  # fmt: skip
    plain = images and all(image and tool_chain_of(without_registry(image[0])) for image in images)
    script = (folder / "tests/test.sh").is_file()
    if not (plain and script) or any(map(_REWARD.search, _texts(folder / "tests", folder / "environment"))):
        return None
    why = "Harbor gets no verdict from it: nothing in it writes a reward where Harbor looks for one."
    return ImportRefusal(why, "tests/test.sh")


def _missing(context: Path) -> ImportRefusal | None:
    """A COPY of what is not in the folder that Docker builds from: no image comes of that."""
    for text in _texts(context / "Dockerfile"):
        for step in read_instructions(text):
            match = _COPIED.fullmatch(step.rest) if step.word == "COPY" else None
            try:
                sources = shlex.split(match["words"])[:-1] if match else []
            except ValueError:
                continue
            if any(".." not in source and not (context / source.lstrip("/")).exists() for source in sources):
                why = "Harbor cannot build its image: the Dockerfile copies a file that is not there."
                return ImportRefusal(why, "environment/Dockerfile", step.line, f"COPY {step.rest}")
    return None


def _texts(*places: Path) -> Iterator[str]:
    for place in places:
        for path in [place, *(sorted(place.rglob("*")) if place.is_dir() else ())]:
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_TEXT:
                yield path.read_text("utf-8", "replace")


def _table(about: dict[str, Any], name: str) -> dict[str, Any]:
    found = about.get(name)
    return found if isinstance(found, dict) else {}
