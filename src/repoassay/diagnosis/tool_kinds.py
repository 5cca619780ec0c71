"""Which tool a call was made of: names that agents give to shells, editors and the rest, and their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

__all__ = ["NEW_TEXT", "OLD_TEXT", "PATHS", "ToolKind", "first_text", "tool_name_key", "tool_of"]


class ToolKind(StrEnum):
    """What tools are for."""

    SHELL = "shell"
    PYTHON = "python"
    EDITOR = "editor"
    WRITE = "write"
    PATCH = "patch"
    READ = "read"
    NETWORK = "network"
    SUBMIT = "submit"
    MESSAGE = "message"


_NAMES: Mapping[ToolKind, str] = {
    ToolKind.SHELL: "bash shell execute runcommand executebash execcommand runshellcommand terminal localshell "
    "localshellcall action cmd executecommand shellcommand run bashcommand runinterminal runbash sh console exec "
    "commandline",
    ToolKind.PYTHON: "python ipython executeipython executeipythoncell runipython jupyter runpython executepython "
    "pythonexec codeinterpreter executecode runcode",
    ToolKind.EDITOR: "strreplaceeditor strreplacebasededittool fileeditor texteditor edittool editoreditor",
    ToolKind.WRITE: "write writefile createfile edit replace multiedit editfile strreplace filewrite fileedit "
    "replaceinfile writetofile insert savefile notebookedit editnotebook create",
    ToolKind.PATCH: "applypatch patch applydiff",
    ToolKind.READ: "read readfile view open viewfile glob grep ls list listdir listdirectory listfiles search "
    "searchfiles searchfilecontent searchfiletext readmanyfiles findfile searchdir searchfile codebasesearch "
    "grepsearch filesearch",
    ToolKind.NETWORK: "webfetch fetch browse browser websearch googlewebsearch browserturl goto browseinteractive "
    "fetchurl httprequest web searchweb visit browsernavigate openurl tavilysearch",
    ToolKind.SUBMIT: "submit finish done complete completetask attemptcompletion finalanswer exit taskdone",
    ToolKind.MESSAGE: "think todowrite updateplan task tasktracker plan message note reportprogress sequentialthinking",
}
_BY_NAME = {name: tool for tool, names in _NAMES.items() for name in names.split()}
_EDITOR_VERBS = ("view", "create", "str_replace", "insert", "undo_edit")
NEW_TEXT = (
    "content", "contents", "file_text", "new_str", "new_string", "newString", "new_text", "newText", "text",
    "insert_text", "code_edit", "new_source",
)  # fmt: skip
OLD_TEXT = ("old_str", "old_string", "oldString", "old_text", "oldText", "search")
PATHS = ("path", "file_path", "filePath", "filename", "absolute_path", "target_file", "notebook_path")


def tool_of(name: str, arguments: Mapping[str, object]) -> ToolKind | None:
    """The kind of tool, by its name, else by its arguments; None where neither tells."""
    tool = _BY_NAME.get(tool_name_key(name)) or _BY_NAME.get(tool_name_key(name.rpartition("__")[2]))
    if tool is ToolKind.EDITOR or (tool in {None, ToolKind.WRITE} and arguments.get("command") in _EDITOR_VERBS):
        return ToolKind.EDITOR
    if tool is not None:
        return tool
    if (typed := first_text(arguments, "chars", "keystrokes")) is not None:  # into a terminal that is open
        return ToolKind.SHELL if any(map(str.isalnum, typed)) else None
    if isinstance(arguments.get("command"), str | list) or isinstance(arguments.get("cmd"), str | list):
        return ToolKind.SHELL
    if isinstance(arguments.get("url"), str):
        return ToolKind.NETWORK
    if isinstance(arguments.get("code"), str):
        return ToolKind.PYTHON
    if first_text(arguments, *PATHS):
        return ToolKind.WRITE if first_text(arguments, *NEW_TEXT) is not None else ToolKind.READ
    return None


def tool_name_key(name: str) -> str:
    """A name without case, spaces and signs."""
    return "".join(char for char in name.lower() if char.isalnum())


def first_text(arguments: Mapping[str, object], *names: str) -> str | None:
    """The first of some arguments that is a text."""
    return next((value for name in names if isinstance(value := arguments.get(name), str)), None)
