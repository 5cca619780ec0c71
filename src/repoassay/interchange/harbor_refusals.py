"""Folders with a task.toml that Harbor itself passes over or cannot start: they are no tasks, whoever reads them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from repoassay.interchange.image_file import ImportRefusal

__all__ = ["refusal_of_harbor"]


def refusal_of_harbor(folder: Path) -> ImportRefusal | None:
    """Why Harbor has no task in a folder with a task.toml, by its own rules (0.24); None where it may have one."""
    if (folder / "task.yaml").is_file():
        return None
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
    return None


def _table(about: dict[str, Any], name: str) -> dict[str, Any]:
    found = about.get(name)
    return found if isinstance(found, dict) else {}
