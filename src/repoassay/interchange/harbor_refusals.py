"""Folders with a task.toml that Harbor passes over, cannot start or gets no verdict from, which are no tasks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.interchange.harbor_settings import has_network
from repoassay.interchange.harbor_values import wrong_value
from repoassay.interchange.image_file import ImportRefusal, read_instructions, without_registry
from repoassay.interchange.image_toolchains import tool_chain_of
from repoassay.interchange.pytest_script import check_reward
from repoassay.records import load_toml

__all__ = ["refusal_of_harbor"]

_MOST_TEXT = 2**20
_REWARD = re.compile(r"/logs/verifier(/reward|(?!/\w))|rewardkit", re.IGNORECASE)
"""Where Harbor looks for a reward, and what writes it there without being told."""
_COPIED = re.compile(r"(?:--(?:chown|chmod)=\S+ +)*(?P<words>[^-\[$<*?\n][^\[$<*?\n]*)")
"""What COPY names plainly: no stage, list, variable, heredoc or pattern."""
_PIP = re.compile(r"\b(?:python3?[\d.]* -m )?pip3?[\d.]* install\b")
_OTHERWISE = re.compile(r"\b(?:ensurepip|install|apt|apt-get|uvx?|conda|mamba|curl|wget|source)\b")
"""What could bring pytest, or pip, without pip."""
_BY_UV = re.compile(r"\b(?:uvx|uv (?:tool )?run)\b")
_BROUGHT_ALONG = re.compile(r"--no-index|--find-links|--offline|\.whl\b|\bPYTHONPATH\b")
"""What lets a script do without a network."""
_BRINGS_PYTEST = re.compile(r"pytest|conda|--from=|git\+|git clone|\[[\w, -]*(?:test|dev|all)")
"""What names pytest in an image, or may bring it along."""
_HAS_PIP = re.compile(r"pip|pytest|\buv\b|conda|--from=")
_INSTALLS_PYTEST = re.compile(r"\binstall\b[^\n]*\bpytest\b")
_NO_PYTHON = re.compile(
    r"(?:eclipse-temurin|ubuntu|debian)(?:[:@].*)?|(?:node|rust|ruby|golang|perl|php):[\w.-]*(?:slim|alpine)\b.*"
)
"""Images that bring no Python; those of a language that are not slim have it by way of other packages."""
_STARTS_PYTHON = re.compile(r"(?m)(?:^|&&|;)[ \t(]*(?:if +|! +|exec +)*python3?[ \t]")
_PLAIN_RUN = re.compile(r"(?:npm|mkdir|echo|printf|rm|touch|chmod|chown|ln|cp|mv|cat|true|cd|set|useradd)\b")
"""Commands of a build that bring no Python."""
_OF_A_BUILD = frozenset({".cfg", ".in", ".lock", ".sh", ".toml", ".txt", ".yaml", ".yml"})


def refusal_of_harbor(folder: Path) -> ImportRefusal | None:
    """Why Harbor has no task in a folder with a task.toml, by its own rules (0.24); None where it may have one."""
    if (folder / "task.yaml").is_file() and not (folder / "environment").is_dir():
        return None  # of terminal-bench 1
    try:
        about = load_toml((folder / "task.toml").read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = "Harbor passes it over: its task.toml is no TOML, as that of a template."
        return ImportRefusal(why, "task.toml", 0, str(error))
    if wrong := wrong_value(about):
        return ImportRefusal(f"Harbor passes it over: its task.toml gives {wrong} a value that it does not take.",
                             "task.toml")  # fmt: skip
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
    own_image = (folder / "tests/Dockerfile").exists() or _table(about, "verifier").get("environment")
    if named:
        return None
    if (place / "docker-compose.yaml").exists():
        other = any(re.search(r"dockerfile|python|pip", text) for text in _texts(place / "docker-compose.yaml"))
        return None if other or own_image else _without_python(folder, about)
    if missing := _missing(place):
        return missing
    steps = about.get("steps")
    return (None if steps else _unrewarded(folder)) or (
        None if own_image else _without_pytest(folder, about) or _without_python(folder, about)
    )


def _without_python(folder: Path, about: dict[str, Any]) -> ImportRefusal | None:
    """Tests, or a solution, that start a Python which neither image nor script brings: the solution passes nowhere."""
    steps = [step for text in _texts(folder / "environment/Dockerfile") for step in read_instructions(text)]
    told = "\n".join(_texts(folder / "solution", folder / "instruction.md", *folder.glob("steps/*/solution")))
    plain = all(map(_NO_PYTHON.fullmatch, _bases(folder))) and not re.search(r"\binstall\b[^\n]*\bpython", told)
    runs = [part.strip() for step in steps if step.word == "RUN" for part in re.split(r"&&|\|\||[;\n]", step.rest)]
    brings = any(step.word in ("ADD", "SHELL", "ENTRYPOINT") or "--from=" in step.rest for step in steps)
    if not plain or brings or not all(map(_PLAIN_RUN.match, filter(None, runs))):
        return None
    tests = _scripts(folder, about)
    for script in (*tests, folder / "solution/solve.sh", *sorted(folder.glob("steps/*/solution/solve.sh"))):
        code = re.sub(r"(?m)^\s*#.*", "", "".join(_texts(script)))
        if _STARTS_PYTHON.search(code) and not _OTHERWISE.search(code):
            named = "no solution: its test script" if script in tests else "not its own solution, which"
            why = f"Harbor passes {named} starts Python, which its image does not have."
            return ImportRefusal(why, str(script.relative_to(folder)))
    return None


def _without_pytest(folder: Path, about: dict[str, Any]) -> ImportRefusal | None:
    """Tests whose reward is what pytest said, where neither their image nor their script brings a pytest."""
    scripts = _scripts(folder, about)
    texts = {place: "".join(_texts(place)) for place in scripts}
    code = re.sub(r"(?m)^\s*#.*", "", "\n".join(texts.values()))
    bases = _bases(folder)
    told = (folder / "solution", folder / "instruction.md", *folder.glob("steps/*/solution"),
            *folder.glob("steps/*/instruction.md"), *folder.glob("steps/*/workdir"))  # fmt: skip
    installed_by_agents = any(map(_INSTALLS_PYTEST.search, _texts(*told)))
    if not re.search(r"\bpytest\b", code) or not all(map(tool_chain_of, bases)) or installed_by_agents:
        return None
    try:
        for place, text in texts.items():
            if "pytest" in text:
                check_reward(text, str(place.relative_to(folder)))
    except ImportRefusal:
        return None
    image = "\n".join(_texts(*filter(_is_of_a_build, (folder / "environment").rglob("*"))))
    has_pytest, other = bool(_BRINGS_PYTEST.search(image)), bool(_OTHERWISE.search(_PIP.sub("", code)))
    by_pip = bool(_PIP.search(code)) and not other
    needs_uv = bool(_BY_UV.search(code)) and not re.search(r"\buvx?\b", image)
    offline = not any(has_network(phase, _table(about, "environment")) for phase in _verifiers(about))
    if offline and (needs_uv or not has_pytest) and not _BROUGHT_ALONG.search(code):
        why = "its tests have no network to fetch their pytest, which its image does not have"
    # Of Ubuntu and Debian the Python that apt installs comes without pip, which is a package by itself.
    elif by_pip and re.fullmatch(r"(ubuntu|debian)([:@].*)?", "|".join(bases)) and not _HAS_PIP.search(image):
        why = "its test script installs pytest by a pip that its image does not have"
    else:
        return None
    return ImportRefusal(f"Harbor passes nobody: {why}.", str(scripts[0].relative_to(folder)))


def _scripts(folder: Path, about: dict[str, Any]) -> list[Path]:
    """The test scripts of a task, which for steps run in one container after another."""
    shared = folder / "tests/test.sh"
    own = [folder / "steps" / str(step.get("name")) / "tests/test.sh" for step in _steps(about)]
    return list(dict.fromkeys(script if script.is_file() else shared for script in own)) or [shared]


def _verifiers(about: dict[str, Any]) -> list[dict[str, Any]]:
    """The settings of each run of tests."""
    whole = _table(about, "verifier")
    return [{**whole, **_table(step, "verifier")} for step in _steps(about)] or [whole]


def _steps(about: dict[str, Any]) -> list[dict[str, Any]]:
    steps = about.get("steps")
    return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []


def _bases(folder: Path) -> list[str]:
    """The images that a task's image is made of."""
    steps = [step for text in _texts(folder / "environment/Dockerfile") for step in read_instructions(text)]
    return [without_registry((step.rest.split() or [""])[0]) for step in steps if step.word == "FROM"]


def _is_of_a_build(path: Path) -> bool:
    """Whether a file of the image may say what is installed into it."""
    return path.suffix in _OF_A_BUILD or path.name in ("Dockerfile", "Makefile", "Pipfile", "setup.py")


def _unrewarded(folder: Path) -> ImportRefusal | None:
    """Tests none of which writes a reward, in an image that brings no program which could."""
    bases = _bases(folder)
    plain = bases and all(map(tool_chain_of, bases))
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
            if match and not sources:
                why = "Harbor cannot build its image: the Dockerfile copies something and does not say where to."
                return ImportRefusal(why, "environment/Dockerfile", step.line, f"COPY {step.rest}")
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
