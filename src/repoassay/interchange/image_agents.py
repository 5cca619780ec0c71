"""Programs of code agents that images bring for the agents of another tool: agents here bring their own.

What only installs one is left out of a build, where nothing of the task names the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from repoassay.interchange.image_file import ImportRefusal

__all__ = ["check_agents_unnamed", "without_agents"]

_PACKAGES = {
    "@anthropic-ai/claude-code": "claude", "@openai/codex": "codex", "@google/gemini-cli": "gemini",
    "@qwen-code/qwen-code": "qwen", "@musistudio/claude-code-router": "ccr", "@sourcegraph/amp": "amp",
    "opencode-ai": "opencode", "openclaw": "openclaw",
}  # fmt: skip
"""Packages of npm -> the program that each installs."""
_SCRIPTS = {"claude.ai/install.sh": "claude", "downloads.claude.ai/claude-code-releases/bootstrap.sh": "claude",
            "opencode.ai/install": "opencode", "cursor.com/install": "cursor-agent"}  # fmt: skip
_BY_SCRIPT = re.compile(
    r"(?:HOME=(?P<home>/\S+) )?(?:(?:ba)?sh -\w*c [\"'])?(?:curl|wget) [^|;&]*https://(?P<script>[\w.-]+/[\w./-]+)"
    r"[^|;&]*\| *(?:\w+=\S+ )*(?:ba)?sh\b[^|;&]*"
)
_BY_NPM = re.compile(r"npm (?:install|i) (?:(?:-g|--global) )(?P<rest>[^|;&<>$`]+)")
_ABOUT_IT = re.compile(r"(chmod|chown|ln|test|command|which|ls|mkdir|rm|\[|export PATH=\S*$)( |$)|\w+=\S")
"""What may follow the installation of a program to lay it where others find it, or to see that it is there."""


def without_agents(commands: list[str]) -> tuple[list[str], list[str]]:
    """The commands of a line without those that install programs of agents or only deal with them, and the programs."""
    kept: list[str] = []
    programs: list[str] = []
    homes = ["/.local/bin/"]
    for command in commands:
        plain = " ".join(command.split())
        if (script := _BY_SCRIPT.fullmatch(plain)) and (name := _SCRIPTS.get(script["script"])):
            programs.append(name)
            homes += [script["home"]] if script["home"] else []
        elif (npm := _BY_NPM.fullmatch(plain)) and (found := _of_npm(npm["rest"].split())) is not None:
            programs += found
        elif not (programs and _is_about(plain, programs, homes)):
            kept.append(command)
    return kept, programs


def _of_npm(words: list[str]) -> list[str] | None:
    """The programs that packages of npm install; None where one of the words is another package."""
    names = [re.sub(r"(?<=.)@.*", "", word) for word in words if not word.startswith("-")]
    return [_PACKAGES[name] for name in names] if names and all(name in _PACKAGES for name in names) else None


def _is_about(command: str, programs: list[str], homes: list[str]) -> bool:
    named = "|".join(map(re.escape, programs))
    if re.fullmatch(rf"({named}) (--version|-v|-V|version)( .*)?", command):
        return True
    places = rf"(?<![\w-])({named})(?![\w-])|{'|'.join(map(re.escape, homes))}"
    return bool(_ABOUT_IT.match(command) and re.search(places, command))


def check_agents_unnamed(programs: Iterable[str], texts: Iterable[str], file: str) -> None:
    """Refuse a task that names a program which was left out.

    Raises:
        ImportRefusal: It does.
    """
    names = "|".join(map(re.escape, sorted(set(programs))))
    if names and (found := re.search(rf"(?<![\w.@-])({names})(?![\w-])", "\n".join(texts))):
        why = "Its image brings the program of an agent, which the task names."
        raise ImportRefusal(why, file, 0, found[0])
