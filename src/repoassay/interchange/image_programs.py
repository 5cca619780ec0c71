"""What commands of a build bring along: packages of a file, programs of the context, modules that they would fetch."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from repoassay.interchange.build_hosts import BuildHosts
from repoassay.records import load_toml

__all__ = ["check_programs", "listed_packages", "passes_on", "stand_in"]

_MOST_TEXT = 2**20
_STARTED = re.compile(
    r"(?:^|&&|;|\|)\s*(?:(?:python[\d.]*|bash|sh|node)\s+)?([\w./-]+\.(?:py|sh|js)|\.?/[\w./-]+)(?=[\s;&|]|$)"
)
_FETCHES = re.compile(
    r"\b(huggingface_hub|gdown|boto3|kaggle|load_dataset|from_pretrained|fetch_openml|nltk\.download"
    r"|(?P<any>urllib\.request|urlretrieve|requests\.(get|post)|httpx|aiohttp|wget|curl))\b"
)
_OWN_ADDRESS = re.compile(r"://(localhost|127\.0\.0\.1|0\.0\.0\.0)\b")
"""Addresses of the machine itself: a program that names no others asks a server of its own, and fetches nothing."""
_PASSES_ON = re.compile(
    r"#!.*\n([ \t]*(#.*|set -\S+( pipefail)?)?\n)*[ \t]*"
    r"(if (\(\( *\$# *> *0 *\)\)|\[+ *\"?\$#\"? -gt 0 *\]+); *then\s+)?exec \"\$@\"[\s;]"
)
_BUILDERS = {"go": "go.mod", "cargo": "Cargo.toml"}
_STAND_INS = {"python": "python3", "python3": "python3", "pip": "python3 -m pip", "pytest": "python3 -m pytest"}


def check_programs(command: str, files: Mapping[str, Path], place: Callable[[str], str], hosts: BuildHosts) -> None:
    """Refuse programs of the context that reach out themselves, and builds of what is not there.

    Args:
        command: Of a RUN line.
        files: Of the image by now.
        place: The absolute path that a word of the command means.
        hosts: Takes note of the modules that are fetched.

    Raises:
        ValueError: It would fetch something.
    """
    for word in _STARTED.findall(command):
        file = files.get(place(word))
        if file is not None and file.stat().st_size <= _MOST_TEXT and _fetches(_text(file)):
            raise ValueError("Its Dockerfile runs a program that fetches something, which builds cannot reach.")
    if re.search(r"(?<![\w./-])terraform (init|providers)\b", command):
        hosts.take_modules("terraform")
    for program, name in _BUILDERS.items():
        if re.search(rf"(?<![\w./-]){program} (build|test|run|vet|mod|fetch|check|generate|install|list)\b", command):
            for path, file in files.items():
                if path.endswith(f"/{name}") and _has_modules(name, _text(file)):
                    hosts.take_modules(program)


def _fetches(text: str) -> bool:
    """Whether a program may reach another machine."""
    found = list(_FETCHES.finditer(text))
    local = _OWN_ADDRESS.search(text) and "://" not in _OWN_ADDRESS.sub("", text)
    return any(not (local and each["any"]) for each in found)


def _has_modules(name: str, text: str) -> bool:
    """Whether a module needs others that are not beside it."""
    if name == "go.mod":
        return bool(re.search(r"(?m)^(require\s|\s+)\s*[\w-]+\.[\w./-]+ v\d", text))
    try:
        about = load_toml(text)
    except (ValueError, RecursionError):
        return True
    tables = [about, *(table for table in (about.get("workspace"), about.get("target")) if isinstance(table, dict))]
    if isinstance(about.get("target"), dict):
        tables += [table for table in about["target"].values() if isinstance(table, dict)]
    wanted = [
        crate
        for table in tables
        for key in ("dependencies", "dev-dependencies", "build-dependencies")
        if isinstance(table.get(key), dict)
        for crate in table[key].values()
    ]
    return any(not (isinstance(crate, dict) and {"path", "workspace"} & set(crate)) for crate in wanted)


def passes_on(file: Path | None) -> bool:
    """Whether a program that an image starts does nothing but start the command that it is given, as it always is."""
    if file is None or file.is_symlink() or file.stat().st_size > _MOST_TEXT:
        return False
    return bool(_PASSES_ON.match(_text(file)))


def listed_packages(file: Path | None) -> list[str]:
    """The lines of a file of requirements.

    Raises:
        ValueError: The image does not have it, or it asks for more than packages by name.
    """
    if file is None:
        raise ValueError("Its Dockerfile installs from a file of requirements that it has not copied.")
    if file.stat().st_size > _MOST_TEXT:
        raise ValueError("Its file of requirements is longer than any that is read.")
    found = []
    for line in re.sub(r"\\\r?\n", " ", _text(file)).splitlines():
        # Digests are of files for one machine and one Python; what is fetched is checked by the index in force.
        text = re.sub(r"\s--hash[= ]\S+", "", line.partition(" #")[0]).strip()
        if re.fullmatch(r"--(require-hashes|no-deps|prefer-binary|only-binary[= ]\S+)", text):
            continue
        if re.match(r"[-./]|(git\+|https?:|file:)", text):
            raise ValueError("Its file of requirements asks for more than packages by name.")
        found += [text] if text and not text.startswith("#") else []
    return found


def stand_in(folder: str) -> str:
    """The command that lets the programs of an environment at `folder` be those of the task's own."""
    lines = (
        f"printf '#!/bin/sh\\nexec {program} \"$@\"\\n' > {shlex.quote(f'{folder}/bin/{name}')}"
        for name, program in _STAND_INS.items()
    )
    return " && ".join((f"mkdir -p {shlex.quote(f'{folder}/bin')}", *lines, f"chmod 755 {shlex.quote(folder)}/bin/*"))


def _text(file: Path) -> str:
    return file.read_text("utf-8", "replace")
