"""Attempts written down shortly, and made into the trajectories that different agents would have left.

A dialogue has a line a mark: `@` what the user asks, `>` what the agent says, `$` a shell command (`\\` continues it),
`|` output, `!` output of a command that failed, `W path` a file written and `E path` one changed (with `+` and `-`
lines), `R path` a file read, `F url` a page fetched, `D` handing in.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repoassay.diagnosis.case import AttemptCase
from repoassay.types.trajectory import Observation, Source, StepCall, Trajectory, TrajectoryStep
from repoassay.types.verdict import Outcome

STYLES = ("openhands", "swe-agent", "claude-code", "codex", "gemini-cli", "mini-swe-agent", "inspect")
CASES = Path(__file__).parent / "cases"


@dataclass
class _Item:
    mark: str
    text: str
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    failed: bool = False


def items(talk: str) -> list[_Item]:
    found: list[_Item] = []
    for line in talk.strip("\n").split("\n"):
        mark, text = line[:1], line[2:]
        if mark in "|!":
            found[-1].output.append(text)
            found[-1].failed |= mark == "!"
        elif mark == "\\":
            found[-1].text += "\n" + text
        elif mark in "+-" and found[-1].mark in "WE":
            (found[-1].added if mark == "+" else found[-1].removed).append(text)
        elif mark in "@>$WERFD":
            found.append(_Item(mark, text))
        else:
            raise ValueError(f"no mark begins {line!r}")
    return found


def trajectory(talk: str, style: str = "openhands") -> Trajectory:
    steps: list[TrajectoryStep] = []
    said = ""
    for number, item in enumerate(items(talk)):
        if item.mark == "@":
            steps.append(TrajectoryStep(index=len(steps) + 1, source=Source.USER, text=item.text))
            continue
        if item.mark == ">":
            if said:
                steps.append(TrajectoryStep(index=len(steps) + 1, source=Source.AGENT, text=said))
            said = item.text
            continue
        key = f"c{number}"
        call = _call(item, style)
        if call is None:
            text = "\n".join(part for part in (said, item.text) if part)
            steps.append(TrajectoryStep(index=len(steps) + 1, source=Source.AGENT, text=text or "Done."))
            said = ""
            continue
        name, arguments = call
        observation = Observation(call=key, text="\n".join(item.output), failed=item.failed and style != "swe-agent")
        step = TrajectoryStep(
            index=len(steps) + 1,
            source=Source.AGENT,
            text=said,
            calls=(StepCall(id=key, name=name, arguments=arguments),),
            observations=(observation,),
        )
        steps.append(step)
        said = ""
    if said:
        steps.append(TrajectoryStep(index=len(steps) + 1, source=Source.AGENT, text=said))
    return Trajectory(agent=style, steps=tuple(steps))


_Call = tuple[str, dict[str, Any]]


def _call(item: _Item, style: str) -> _Call | None:
    """The call that an agent of a style makes; None where it only says something."""
    added, removed = "\n".join(item.added), "\n".join(item.removed)
    if item.mark == "$":
        shells: dict[str, tuple[str, dict[str, Any]]] = {
            "openhands": ("terminal", {"command": item.text}),
            "swe-agent": ("action", {"command": item.text}),
            "claude-code": ("Bash", {"command": item.text, "description": "run"}),
            "codex": ("exec_command", {"cmd": item.text}),
            "gemini-cli": ("run_shell_command", {"command": item.text}),
            "inspect": ("bash", {"cmd": item.text}),
        }
        return shells.get(style, ("bash", {"command": item.text}))
    if item.mark in "WE":
        return _edit(item, style, added, removed)
    if item.mark == "R":
        readers: dict[str, _Call] = {
            "openhands": ("file_editor", {"command": "view", "path": item.text}),
            "claude-code": ("Read", {"file_path": item.text}),
            "gemini-cli": ("read_file", {"absolute_path": item.text}),
            "codex": ("shell", {"command": ["bash", "-lc", f"sed -n 1,200p {item.text}"]}),
        }
        return readers.get(style, ("bash", {"command": f"cat {item.text}"}))
    if item.mark == "F":
        fetchers: dict[str, _Call] = {
            "claude-code": ("WebFetch", {"url": item.text, "prompt": "read it"}),
            "gemini-cli": ("web_fetch", {"prompt": item.text}),
        }
        return fetchers.get(style, ("bash", {"command": f"curl -sL '{item.text}'"}))
    enders: dict[str, _Call] = {
        "swe-agent": ("submit", {}),
        "openhands": ("finish", {"message": item.text}),
        "mini-swe-agent": ("bash", {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}),
        "inspect": ("submit", {"answer": item.text}),
    }
    return enders.get(style)


def _edit(item: _Item, style: str, added: str, removed: str) -> tuple[str, dict[str, Any]]:
    path = item.text
    if style == "codex":
        kind = "Update" if removed else "Add"
        lines = [f"-{line}" for line in item.removed] + [f"+{line}" for line in item.added]
        return "apply_patch", {
            "input": "\n".join(["*** Begin Patch", f"*** {kind} File: {path}", *lines, "*** End Patch"])
        }
    if style in {"mini-swe-agent", "inspect"} and not removed:
        return "bash", {
            "command" if style != "inspect" else "cmd": f"cat > {path} <<'END_OF_FILE'\n{added}\nEND_OF_FILE"
        }
    if style == "claude-code":
        if removed:
            return "Edit", {"file_path": path, "old_string": removed, "new_string": added}
        return "Write", {"file_path": path, "content": added}
    if style == "gemini-cli":
        if removed:
            return "replace", {"file_path": path, "old_string": removed, "new_string": added}
        return "write_file", {"file_path": path, "content": added}
    if removed:
        return "str_replace_editor", {"command": "str_replace", "path": path, "old_str": removed, "new_str": added}
    return "str_replace_editor", {"command": "create", "path": path, "file_text": added}


@dataclass(frozen=True)
class Labelled:
    """A trajectory, its facts, and what people say of it: `label` is E1 to E5, none or unclear."""

    id: str
    label: str
    trajectory: Trajectory
    case: AttemptCase
    sub: str
    integrity: tuple[str, ...]
    talk: str


def labelled(entry: dict[str, Any], style: str = "") -> Labelled:
    case = AttemptCase(
        repository=entry.get("repo", ""),
        packages=tuple(entry.get("packages", ())),
        expected=tuple(entry.get("expect", ())),
        left=tuple(entry["left"]) if "left" in entry else None,
        outcome=Outcome(entry["outcome"]) if "outcome" in entry else None,
        edit=entry.get("kind") == "edit",
        ground_truth=tuple(entry.get("truth", ())),
        inputs=tuple(entry.get("inputs", ())),
    )
    made = trajectory(entry["talk"], style or entry["style"])
    return Labelled(
        entry["id"], entry["class"], made, case, entry.get("sub", ""), tuple(entry.get("h", ())), entry["talk"]
    )


def cases(name: str, style: str = "") -> list[Labelled]:
    return [labelled(entry, style) for entry in tomllib.loads((CASES / f"{name}.toml").read_text("utf-8"))["case"]]
