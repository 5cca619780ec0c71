"""The errors of an attempt in order, and which of them nothing later overcame."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from repoassay.diagnosis.actions import Action, ActionLine
from repoassay.diagnosis.case import AttemptCase
from repoassay.diagnosis.classes import ErrorClass, Subclass
from repoassay.diagnosis.evidence import Evidence
from repoassay.diagnosis.exceptions import origin, raised_in
from repoassay.diagnosis.purpose import CommandKind, install_targets, script_of
from repoassay.diagnosis.rules import HINTS, DiagnosisRule

__all__ = ["RecoveryTrouble", "Troubles", "scripts_of", "troubles_of"]

_SEARCHED = frozenset({CommandKind.INSTALL, CommandKind.EXECUTE, CommandKind.VERIFY, CommandKind.NETWORK})
_INSTALLED = re.compile(
    r"Successfully (?:installed|built)|already satisfied|is already the newest|added \d+ packages"
    r"|Installed \d+ packages?|Setting up \S+ \(|Audited \d+ packages"
)
_WENT_ON = re.compile(
    r"\b(?:saved?|done|finished|complete[d]?|written|wrote|success(?:fully)?|created|passed)\b", re.IGNORECASE
)
_NOT_SO = re.compile(r"\b(?:not|fail(?:ed|ure)?|error|unable|cannot|could ?n.t|after \d|timed|before)\b", re.IGNORECASE)
_QUIETLY = re.compile(
    r"^\s{0,20}(?:WARNING|WARN|\[?DEBUG|DeprecationWarning|UserWarning|FutureWarning|\[notice\]|NOTE)\b", re.IGNORECASE
)
_ALIASES = {
    "cv2": "opencv",
    "pil": "pillow",
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "yaml": "pyyaml",
    "bs4": "beautifulsoup4",
    "imwatermark": "invisible-watermark",
    "dateutil": "python-dateutil",
    "fitz": "pymupdf",
    "crypto": "pycryptodome",
    "dotenv": "python-dotenv",
    "serial": "pyserial",
    "git": "gitpython",
    "docx": "python-docx",
}


@dataclass(frozen=True, slots=True)
class RecoveryTrouble:
    """An error seen at the action at `place`. `timeout` tells that a limit of time cut it off."""

    place: int
    kind: CommandKind
    code: ErrorClass
    subclass: Subclass | None
    weight: float
    rule: str
    why: str
    evidence: Evidence
    key: str
    module: str = ""
    timeout: bool = False


@dataclass(frozen=True, slots=True)
class Troubles:
    """All errors; those nothing overcame (`open`); those overcome only by something else that ran (`doubtful`)."""

    all: tuple[RecoveryTrouble, ...]
    open: tuple[RecoveryTrouble, ...]
    doubtful: tuple[RecoveryTrouble, ...]
    succeeded: tuple[int, ...]


def scripts_of(actions: tuple[Action, ...]) -> frozenset[str]:
    """Base names of the program files that the agent wrote."""
    return frozenset(
        written.path.rpartition("/")[2]
        for action in actions
        for written in action.authored
        if written.path and not written.removed and not written.deleted
    )


def troubles_of(actions: tuple[Action, ...], case: AttemptCase, rules: tuple[DiagnosisRule, ...]) -> Troubles:
    """Walk the actions in order, opening errors and closing what later success overcame."""
    scripts, logs = scripts_of(actions), set[str]()
    found: list[RecoveryTrouble] = []
    left: list[RecoveryTrouble] = []
    doubtful: list[RecoveryTrouble] = []
    succeeded: list[int] = []
    for place, original in enumerate(actions):
        action = _as_log(original, logs)
        logs.update(path for _, simple in action.commands for path in simple.writes)
        if action.kind not in _SEARCHED:
            continue
        seen = _best(place, action, tuple(_troubles_at(place, action, case, rules, scripts)))
        if seen is not None:
            found.append(seen)
            left = [*(old for old in left if not _same(old, seen)), seen]
            continue
        if action.failed or (not action.answered and action.kind is not CommandKind.INSTALL):
            continue
        succeeded.append(place)
        left, gone = _overcome(left, action)
        doubtful = [old for old in (*doubtful, *gone) if old.key != _key(action)]
    return Troubles(tuple(found), tuple(left), tuple(doubtful), tuple(succeeded))


def _as_log(action: Action, logs: set[str]) -> Action:
    """Reading the log of a background run shows what the run printed."""
    if action.kind in {CommandKind.READ, CommandKind.OTHER} and any(
        path in logs and _is_log(path) for path in action.paths
    ):
        return replace(action, kind=CommandKind.EXECUTE)
    return action


def _is_log(path: str) -> bool:
    return path.endswith((".log", ".out", ".err", "log.txt", "nohup.out", "stdout.txt", "stderr.txt"))


def _key(action: Action) -> str:
    """What ran: the last script or command that does work, for telling a second try from something else."""
    names = [script_of(simple) or "-c" for kind, simple in action.commands if kind is action.kind]
    return names[-1].rpartition("/")[2] if names else action.kind


def _same(old: RecoveryTrouble, new: RecoveryTrouble) -> bool:
    return old.key == new.key and old.kind is new.kind and old.kind is not CommandKind.INSTALL


def _troubles_at(
    place: int, action: Action, case: AttemptCase, rules: tuple[DiagnosisRule, ...], scripts: frozenset[str]
) -> Iterator[RecoveryTrouble]:
    lines, key = _since_success(action), _key(action)
    kinds = {action.kind, *(kind for kind, _ in action.commands if kind in _SEARCHED)}
    for raised in raised_in(lines, case, scripts):
        source = origin(raised, case)
        if source is not None and not _passed_over(lines, raised.place, action):
            yield RecoveryTrouble(
                place,
                action.kind,
                source.code,
                source.subclass,
                source.weight,
                f"exception-{raised.name}",
                source.why,
                action.seen(raised.line),
                key,
                source.module,
            )
    for number, line in enumerate(lines):
        if not line.text.strip() or (_QUIETLY.match(line.text) and action.kind is not CommandKind.INSTALL):
            continue
        low = line.text.lower()
        telling = any(hint in low for hint in HINTS)
        for rule in rules:
            if rule.shipped and not telling:
                continue
            match = rule.pattern.search(line.text) if not kinds.isdisjoint(rule.scope) else None
            if match is None or _passed_over(lines, number, action):
                continue
            code, part, timeout = rule.code, rule.subclass, rule.id == "timed-out"
            if timeout and action.kind is CommandKind.INSTALL:
                code, part = ErrorClass.E1, Subclass.NETWORK
            yield RecoveryTrouble(
                place,
                action.kind,
                code,
                part,
                rule.weight,
                rule.id,
                f"output matches {rule.id}",
                action.seen(line, match.start(), max(match.end(), min(len(line.text), match.start() + 200))),
                key,
                "",
                timeout or (rule.id == "network" and "timed" in line.text.lower()) or "ReadTimeout" in line.text,
            )


def _since_success(action: Action) -> tuple[ActionLine, ...]:
    """What an installer printed after it last said that it had installed; a whole output otherwise."""
    if CommandKind.INSTALL not in {kind for kind, _ in action.commands}:
        return action.lines
    last = max((at for at, line in enumerate(action.lines) if _INSTALLED.search(line.text)), default=-1)
    return action.lines[last + 1 :]


def _passed_over(lines: tuple[ActionLine, ...], place: int, action: Action) -> bool:
    """Whether the program went on to its end after a line that looks like an error."""
    if action.failed:
        return False
    rest = [line.text for line in lines[place + 1 :] if line.text.strip()]
    return any(_WENT_ON.search(text) and not _NOT_SO.search(text) for text in rest[-3:])


def _best(place: int, action: Action, seen: tuple[RecoveryTrouble, ...]) -> RecoveryTrouble | None:
    """Of several signs in one output the surest, and of equals the last."""
    if not seen:
        return None
    last = max((one.evidence.start for one in seen if one.rule.startswith("exception-")), default=-1)
    return max(
        seen,
        key=lambda one: (
            one.weight + (0.1 if last >= 0 and 0 <= one.evidence.start - last < 500 else 0),
            one.evidence.start,
        ),
    )


def _overcome(left: list[RecoveryTrouble], action: Action) -> tuple[list[RecoveryTrouble], list[RecoveryTrouble]]:
    """What stays open after an action that went well, and what was closed by something other than a second try."""
    key, kept, doubtful = _key(action), list[RecoveryTrouble](), list[RecoveryTrouble]()
    for old in left:
        if action.kind is CommandKind.INSTALL:
            if not _installs_away(old, action):
                kept.append(old)
        elif action.kind is CommandKind.VERIFY:
            if not (
                old.key == key and old.kind is CommandKind.VERIFY and old.code is not ErrorClass.E1
            ) and not _imported(old, action):
                kept.append(old)
        elif action.kind is CommandKind.NETWORK:
            if old.kind is not CommandKind.NETWORK:
                kept.append(old)
        elif old.key != key or old.kind is CommandKind.INSTALL:
            doubtful.append(old)
    return kept, doubtful


def _installs_away(old: RecoveryTrouble, action: Action) -> bool:
    if old.code is not ErrorClass.E1:
        return False
    targets = {name for _, simple in action.commands for name in install_targets(simple)}
    if not old.module:
        return True
    top = old.module.partition(".")[0].lower().replace("_", "-")
    wanted = _ALIASES.get(top, top)
    broad = any(
        name in {".", "-r", "-e"}
        or name.endswith((".txt", ".toml", "/", ".yml", ".yaml"))
        or "/" in name
        or name.startswith(".")
        for name in targets
    )
    return broad or not targets or any(wanted in name or top in name or name in wanted for name in targets)


def _imported(old: RecoveryTrouble, action: Action) -> bool:
    return bool(old.module) and old.module.partition(".")[0] in action.text
