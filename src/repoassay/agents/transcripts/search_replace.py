"""Aider's edits: a file's name, then `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE` with lines between them."""

from __future__ import annotations

from repoassay.types import StepCall

__all__ = ["search_replace_calls"]


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
