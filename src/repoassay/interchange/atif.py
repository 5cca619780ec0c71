"""Trajectories in ATIF as a run: documents, one a file or one a line of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from repoassay.agents import mapping, moment
from repoassay.interchange.agent_files import (
    json_object,
    plain_files,
    steps_of,
    text_lines,
    trajectory_from,
)
from repoassay.interchange.foreign_run import ForeignAttempt, ReportedResult
from repoassay.sandbox import temporary_folder
from repoassay.types import Attribution, Outcome

__all__ = ["AtifRun", "looks_like_atif"]

_MARK = b'"ATIF-v1.'
_READER = "atif"


def looks_like_atif(path: Path) -> bool:
    """Whether a file names the format near its beginning."""
    with path.open("rb") as stream:
        return _MARK in stream.read(4096)


class AtifRun:
    """Each document an attempt; what we wrote names its task, else the file or the folder it lies in does."""

    title = "trajectories in ATIF, a JSON file each, or one a line of a JSONL file"
    gives = "run"
    version = "ATIF-v1.0 to ATIF-v1.8"
    lost = (
        "Images and sound, of which the path is kept.", "Token ids, log probabilities and definitions of tools.",
        "Nesting: steps of subagents stand after the step that delegated to them, with their name.",
    )  # fmt: skip

    def recognizes(self, source: Path) -> bool:
        """Whether the file, or a JSON file in the folder itself, says so."""
        try:
            files = [source] if source.is_file() else sorted(source.glob("*.json"))[:20]
            return any(looks_like_atif(path) for path in files)
        except OSError:
            return False

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a document."""
        if source.is_file() and source.suffix == ".jsonl":
            for number, line in enumerate(text_lines(source), 1):
                with temporary_folder("import") as place:
                    path = Path(place, "trajectory.json")
                    path.write_text(line, "utf-8", "surrogatepass")
                    yield _attempt(path, f"{source.stem}-{number}")
            return
        for path in plain_files(source, ".json"):
            if looks_like_atif(path):
                yield _attempt(path, path.parent.name if path.stem == "trajectory" else path.stem)


def _attempt(path: Path, name: str) -> ForeignAttempt:
    files = {f"files/{path.name}": path}
    trajectory = trajectory_from(_READER, files, agent="")
    document = json_object(path)
    about = mapping(document, "extra", "attempt")
    name_of_agent = str(mapping(document, "agent").get("name") or "unknown")
    agent = str(about.get("agent") or name_of_agent)
    started, ended = steps_of(trajectory)
    return ForeignAttempt(
        task=str(about.get("task") or name),
        agent=agent,
        model=trajectory.model,
        trajectory=trajectory.model_copy(update={"agent": name_of_agent}),
        reported=_reported(about),
        started=moment(about.get("started")) or started,
        ended=moment(about.get("ended")) or ended,
        files=files,
        problems=trajectory.problems,
    )


def _reported(about: dict[str, object]) -> ReportedResult | None:
    """What came of it, where the document is one that we wrote."""
    try:
        outcome = Outcome(str(about.get("outcome")))
    except ValueError:
        return None
    passed = outcome is Outcome.PASSED if outcome.whose is Attribution.AGENT else None
    by = str(about.get("grader") or "the writer").removesuffix(" (reported)")
    return ReportedResult(passed, by, comments=() if passed else (f"The outcome was {outcome.value}.",))
