"""Aider's edits: a file's name, then `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE` with lines between them.

Some models give files whole instead, in a fence.
"""

from __future__ import annotations

from repoassay.types import StepCall

__all__ = ["search_replace_calls", "whole_file_call"]


def search_replace_calls(text: str) -> tuple[StepCall, ...]:
    """The edits that a reply asks for, each as a call of `edit` with `path`, `old_str` and `new_str`."""
    found: list[StepCall] = []
    old, new, path = list[str](), list[str](), ""
    before, state = "", ""
    for line in text.split("\n"):
        if line.startswith("<<<<<<< SEARCH"):
            state, old, new, path = "old", [], [], before
        elif state == "old" and line.startswith("======="):
            state = "new"
        elif state == "new" and line.startswith(">>>>>>> REPLACE"):
            arguments = {"path": path, "old_str": "\n".join(old), "new_str": "\n".join(new)}
            found.append(StepCall(name="edit", arguments=arguments))
            state = ""
        elif state:
            (old if state == "old" else new).append(line)
        elif line.strip() and not line.lstrip().startswith("```"):
            before = line.strip().strip("`*:#").strip()[:500]
    return tuple(found)


def whole_file_call(text: str, path: str) -> StepCall:
    """The edit of a file that a reply gives whole, in a fence below its name; without text where it does not."""
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1]):
        fence = lines[number + 1].lstrip()
        if line.strip().strip("`*:#").strip() == path and fence.startswith("```"):
            rest = lines[number + 2 :]
            end = next((at for at, one in enumerate(rest) if one.startswith("```")), len(rest))
            return StepCall(name="edit", arguments={"path": path, "new_str": "\n".join(rest[:end])})
    return StepCall(name="edit", arguments={"path": path})
