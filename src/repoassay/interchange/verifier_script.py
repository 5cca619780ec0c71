"""A test script as it is, but for what it installs: that is the environment's, where there is no network."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repoassay.interchange.image_file import ImportRefusal
from repoassay.interchange.inline_programs import isolate_programs
from repoassay.interchange.shell_steps import read_shell
from repoassay.records import load_toml

__all__ = ["VerifierScript", "as_own_programs", "read_verifier"]

_HEREDOC = re.compile(r"<<-?\s*([\"']?)([A-Za-z_]\w*)\1")
_INSTALLS = re.compile(
    r"^(if ! )?(sudo )?(?:DEBIAN_FRONTEND=\w+ )?"
    r"(apt(-get)?|apk|pip[\d.]*|python[\d.]* -m pip|uv (pip|add|venv|init|sync|python|tool)) ?\b"
)
_SETS_UP = re.compile(
    r"^((curl|wget)\b.*(astral\.sh|install\.sh|get-pip).*|(source|\.) .*(\.local/bin/env|\.cargo/env|activate)\"?"
    r"|export PATH=.*|deactivate|hash -r|ln -s\w* \S*(command -v|which) uvx?\b.*)$"
)
_UNLESS_THERE = re.compile(
    r"(python[\d.]* -c (['\"])import [\w., ]+\2|(command -v|which|hash) [\w.-]+|[\w.-]+( -m \w+)? --version)"
    r"( *([12&]?>+ *[\w/.]+|2>&1))* *\|\| *"
)
"""A question whether what is then installed is there, which the environment has."""
_LOCKS = re.compile(
    r"^(sudo )?(killall (-\d+ )?(apt|apt-get|dpkg|unattended-upgrades|\s)+|rm -f /var/(lib|cache)/(apt|dpkg)/\S*"
    r"|dpkg --configure -a)( 2>/dev/null| \|\| true)*$"
)
"""What only makes way for an installation."""
_REACHES_OUT = re.compile(
    r"(?<![\w./=-])(curl|wget|git (clone|fetch|pull)|npm (i|install|ci)|npx|yarn|pnpm|go (get|install)"
    r"|cargo (add|install)|go mod (download|tidy)|gem install|pip3? install|apt-get|uv (add|sync|pip)|playwright"
    r"|conda|mvn|gradle)(?=\s|$)"
)
_OF_ITS_OWN = re.compile(
    r"(?<![\w./=-])curl (?![^;&|]*://(?!localhost|127\.0\.0\.1))[^;&|]*://(localhost|127\.0\.0\.1)\b"
)
"""A question to a server on the tests' own machine."""
_STARTS = re.compile(r"\b(systemctl|service [\w-]+ (re)?start|docker|nginx|mysqld?|postgres|redis-server|sshd)\b")
_UV_THERE = re.compile(r"\b(command -v|which|type|hash) uvx?\b")
"""A question whether uv has been installed, which is answered as after the installation that is taken out."""
_RUNNER = re.compile(r"(?<!command -v )\b(?:uvx|uv run|uv tool run)\s+")
_REWARDKIT = re.compile(r"\s*(?:exec +|if +)?(?:harbor-)?rewardkit\b|\s*python[\d.]* +-m +rewardkit\b")
_REWARD = "/logs/verifier/reward.json"
_NEWER, _NEWER_PYTHON = re.compile(r"harbor-rewardkit($|[=<>~!\[])"), "3.12"
_REPORTS = re.compile(r"\s--ctrf[ =]\S+")
"""Has pytest write a report, by a plug-in."""
_WITH_VALUE = frozenset({"-p", "--python", "--project", "--directory", "--index-url", "--extra-index-url"})
_PYTEST = re.compile(
    r"(?m)\bpython[\d.]*(?: +-[uBbsSEO]+)* +-m +pytest\b"
    r"|(?P<alone>(^[ \t]*|[;&|({][ \t]*|\b(if|then|else|do|time|exec|timeout [\d.]+[smh]?) +|! +)"
    r"(\w+=([^\s;&|'\"()]|\"[^\"\n]*\")* +)*)pytest(?= )"
)
"""As a module; or as a program, before whose modules PYTHONPATH may put those of a submission."""
_PROGRAM = Path(__file__).with_name("run_pytest.py")
_CALL = '-I -c "${RUN_PYTEST:?}"'

_MOST_TEXT = 2**20
_RUN_SCRIPT = re.compile(r"\buv run (?:(?:-s|--script|-q|--quiet|--no-project) )*(/tests/([\w-][\w./-]*\.py))(?=\s|$)")
_BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(?:^#(?:| .*)$\s)+)^# ///$")
_BY_NAME = re.compile(r"[\w.-]+(\[[\w, .-]+\])? *([=<>!~][\w.*+!=<>~, -]*)?(;[\w .'\"<>=!()~-]*)?")
_AT_LEAST = re.compile(r">=\s*(3\.\d{1,2})(\.\d+)?")


@dataclass(slots=True)
class VerifierScript:
    """What is kept of a test script.

    Attributes:
        text: The script without what installs something.
        pip, apt: Packages it installs.
        python: The oldest release line of Python that they run on, where one is known to want a newer one.
        reads_report: Whether the script reads the report that it lets pytest write, which then has to be there.
    """

    text: str = ""
    python: str = ""
    pip: list[str] = field(default_factory=list)
    apt: list[str] = field(default_factory=list)
    reads_report: bool = False


def read_verifier(text: str, name: str) -> VerifierScript:
    """Take what a script installs out of it, and see that the rest needs no network and no service.

    Raises:
        ImportRefusal: It writes no reward where one is looked for, or reaches out beyond what is understood.
    """
    besides = _REPORTS.sub("", re.sub(r"(?m)^\s*#.*|\bpytest-json-ctrf\b", "", text))
    found = VerifierScript(reads_report="ctrf" in besides)
    kept: list[str] = []
    ends: list[str] = []
    number, lines = 0, text.split("\n")
    while number < len(lines):
        first, line = number + 1, lines[number]
        number += 1
        if ends:
            ends = ends[1:] if line.strip() == ends[0] else ends
            if match := _REACHES_OUT.search(line):
                raise ImportRefusal(f"Its test script reaches out with {match[0]}, and tests have no network.", name,
                                    first, line)  # fmt: skip
            kept.append(line)
            continue
        while line.endswith("\\") and number < len(lines):
            line = f"{line[:-1]} {lines[number].strip()}"
            number += 1
        try:
            kept.append(_line(line, found))
        except ValueError as error:
            raise ImportRefusal(str(error), name, first, line) from error
        ends = [word for _, word in _HEREDOC.findall(line)]
    found.text = isolate_programs("\n".join(kept))
    found.text = _PYTEST.sub(_run_pytest, found.text)
    if "${RUN_PYTEST:?}" in found.text:  # exported, for what a shell within it runs
        found.text = f"export RUN_PYTEST={shlex.quote(_PROGRAM.read_text(encoding='utf-8'))}\n{found.text}"
    return found


def _run_pytest(match: re.Match[str]) -> str:
    """What calls `run_pytest.py` in the place of pytest."""
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : max(match.start(), match.end("alone"))]
    quoted = line.count('"') % 2 and "$(" not in line[line.rindex('"') :]
    call = re.sub(r'(["$])', r"\\\1", _CALL) if quoted else _CALL
    return f"python {call}" if match["alone"] is None else f"{match['alone']}python3 {call} alone"


def _line(line: str, found: VerifierScript) -> str:
    """What stands in the place of a line."""
    plain = " ".join(line.split())
    if not plain or plain.startswith("#"):
        return line
    indent = line[: len(line) - len(line.lstrip())]
    if (unless := _UNLESS_THERE.match(plain)) and _INSTALLS.match(plain[unless.end() :]):
        plain = plain[unless.end() :]
    if _LOCKS.match(plain):
        return f"{indent}true"
    if _INSTALLS.match(plain) or _SETS_UP.match(plain):
        steps = [part for part in re.split(r"\s*(?:&&|\|\||;)\s*", plain) if part not in ("then", "fi", "do", "{", "}")]
        if any(re.match(r"(python[\d.]*|uv run|uvx|pytest|node|bash)\b(?! -m (pip|venv))", step) for step in steps):
            raise ValueError("Its test script installs something and runs its tests in one line.")
        for step in steps:
            _install(re.sub(r"^(if ! |sudo |DEBIAN_FRONTEND=\w+ )+|(\s\d)?\s*[>&|].*$", "", step), found)
        return f"{indent}true{'; then' if plain.startswith('if ') else ''}"
    line = _UV_THERE.sub(r"\1 python", line)
    line = _without_uv(line, found)
    if not found.reads_report:
        line = _REPORTS.sub("", line)
    elif _REPORTS.search(line):
        found.pip.append("pytest-json-ctrf")
    if _REWARDKIT.match(line) and "--output" not in line:  # else it writes where it does without being told
        line = _REWARDKIT.sub(rf"\g<0> --output {_REWARD}", line)
    plain = _OF_ITS_OWN.sub("", re.sub(r"\b(command -v|which|type) [\w-]+", "", line))
    if (match := _REACHES_OUT.search(plain)) and not re.match(r"\s*(echo|printf)\b", line):
        raise ValueError(f"Its test script reaches out with {match[0]}, and tests have no network.")
    if (match := _STARTS.search(line)) and not re.match(r"\s*(echo|printf)\b", line):
        raise ValueError(f"Its test script needs {match[0]}, which a sandbox does not have.")
    return line


def _install(step: str, found: VerifierScript) -> None:
    step = re.sub(r"^uv add\b", "uv pip install", step)
    if not re.match(r"(apt(-get)?|pip[\d.]*|python[\d.]* -m pip|uv pip) (?=.*\binstall\b)|apk .*\badd\b", step):
        return
    if "$" in step:
        raise ValueError("Its test script installs what a variable of it names.")
    steps = read_shell(step)
    if any(wanted.startswith("-r ") for wanted in steps.pip):
        raise ValueError("Its test script installs from a file of requirements.")
    found.pip += steps.pip
    found.apt += steps.apt


def _without_uv(line: str, found: VerifierScript) -> str:
    """A line whose `uvx` or `uv run` is the environment's own program, with the packages it names."""
    match = _RUNNER.search(line)
    if match is None:
        if re.search(r"\buvx?\b", line) and not re.search(r"command -v|which uv|\becho\b|setup-uv-pytest", line):
            raise ValueError("Its test script runs something with uv that is not understood.")
        return line
    rest, origin = line[match.end() :].split(" "), ""
    while rest and (not rest[0] or rest[0].startswith("-")):
        option, _, value = rest.pop(0).partition("=")
        if option in ("-w", "--with"):
            found.pip.append((value or (rest.pop(0) if rest else "")).strip("'\""))
        elif option == "--from":
            origin = (value or (rest.pop(0) if rest else "")).strip("'\"")
        elif option in _WITH_VALUE and not value and rest:
            rest.pop(0)
    found.pip = [name for name in found.pip if name and not re.match(r"pytest(-json-ctrf)?($|[=<>~!])", name)]
    if not rest or not re.fullmatch(r"[\w.-]+(@[\w.]+)?", rest[0]):
        raise ValueError("Its test script runs something with uv that is not understood.")
    program, _, version = rest[0].partition("@")
    of_project = re.match(r"uv +run\b", match[0])
    if re.fullmatch(r"pytest|python[\d.]*", program):
        own = "python -m pytest" if of_project else "python -m pytest alone"  # uvx does not look into the folder
        program = own if program == "pytest" else "python"
    elif of_project:  # of a project, whose environment nobody knows
        raise ValueError("Its test script runs something with uv that is not understood.")
    else:
        found.pip.append(origin or (f"{program}=={version}" if version and version != "latest" else program))
        if _NEWER.match(found.pip[-1]):
            found.python = _NEWER_PYTHON
    return " ".join([line[: match.start()] + program, *rest[1:]])


def as_own_programs(text: str, tests: Path) -> tuple[str, list[str], str]:
    """Run programs that `uv run` starts, and that name packages in a comment (PEP 723), with the task's own Python.

    A script without the comment runs in whatever project its folder is in, and is left as it is.

    Args:
        text: Of a test script.
        tests: Its folder.

    Returns:
        The text, the packages, and the oldest Python that they want; empty for any.
    """
    packages: list[str] = []
    pythons: list[str] = []

    def own(call: re.Match[str]) -> str:
        about = _metadata(tests / call[2]) if ".." not in call[2] else None
        if about is None:
            return call[0]
        packages.extend(about.get("dependencies", []))
        pythons.extend(f"3.{int(found[1][2:])}" for found in _AT_LEAST.finditer(str(about.get("requires-python"))))
        return f"python {call[1]}"

    found = _RUN_SCRIPT.sub(own, text)
    return found, packages, max(pythons, key=lambda version: int(version[2:]), default="")


def _metadata(file: Path) -> dict[str, Any] | None:
    """What a script's comment says; None without one, and where it asks for more than packages by name."""
    if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_TEXT:
        return None
    blocks = _BLOCK.findall(file.read_text("utf-8", "replace").replace("\r\n", "\n"))
    if len(blocks) != 1:
        return None
    try:
        about = load_toml("\n".join(line[2:] for line in blocks[0].splitlines()))
    except (ValueError, RecursionError):
        return None
    named = about.get("dependencies", [])
    plain = isinstance(named, list) and all(
        isinstance(each, str) and _BY_NAME.fullmatch(each.strip()) for each in named
    )
    return about if plain and not about.get("tool") else None
