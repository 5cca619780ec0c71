"""ATIF, the Agent Trajectory Interchange Format, versions 1.0 to 1.8: one JSON document, with those of subagents.

Steps of a subagent stand after the step that delegated to it, and say whose they are; those in other files are
followed where they lie beside the document. Harbor's agents write it as `trajectory.json`.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment, money
from repoassay.agents.transcripts.files import entries, json_file, mapping, matching
from repoassay.types import Source, StepCall, Usage

__all__ = ["read", "read_document"]

_SOURCES = {"agent": Source.AGENT, "user": Source.USER, "system": Source.SYSTEM}
_DEEPEST = 8
_MOST_PARTS = 500


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    found = matching(folder, "files/*.json")
    document = mapping(json_file(found[0], building)) if found else {}
    read_document(document, building, {path.name: path for path in found})


def read_document(document: dict[str, Any], building: Building, others: Mapping[str, Path] | None = None) -> None:
    """Read one document into a trajectory.

    Args:
        document: The JSON object.
        building: Takes steps, figures and problems.
        others: Files that the document may go on in, or keep subagents in, by name.
    """
    if not str(document.get("schema_version", "")).startswith("ATIF-v1."):
        building.problem("There is no readable ATIF document of version 1.")
        return
    agent, extra = mapping(document, "agent"), mapping(document, "extra")
    building.version = _version_text(agent.get("version"))
    building.model = building.model or str(agent.get("model_name") or "")
    building.session = str(extra.get("session") or ("" if "attempt" in extra else document.get("session_id") or ""))
    building.ending = str(extra.get("ending") or "")
    problems = extra.get("problems")
    for problem in problems if isinstance(problems, list) else ():
        building.problem(str(problem)[:500])
    _Reader(building, others or {}).read(document, "", 0)
    final = mapping(document, "final_metrics")
    building.usage = _usage(final, "total_")
    building.dollars = _dollars(final, "total_cost_usd")
    calls = mapping(final, "extra").get("calls")
    building.calls = calls if isinstance(calls, int) and not isinstance(calls, bool) and calls >= 0 else None
    building.note = str(document.get("notes") or "")[:500]


class _Reader:
    """Reads a document and those that it refers to, each once."""

    def __init__(self, building: Building, others: Mapping[str, Path]) -> None:
        self._building, self._others = building, others
        self._read: set[str] = set()

    def read(self, document: dict[str, Any], name: str, depth: int, *, continues: bool = False) -> None:
        """Read the steps of a document.

        Args:
            document: The JSON object.
            name: The subagent whose it is; empty for the agent itself.
            depth: How many documents it was reached through.
            continues: Whether it goes on where another ends, whose last steps it then repeats.
        """
        parts = {str(part.get("trajectory_id")): part for part in entries(document.get("subagent_trajectories"))}
        for step in entries(document.get("steps")):
            if continues and step.get("is_copied_context"):
                continue
            for ref in self._step(step, name):
                if part := self._part(ref, parts, depth):
                    self.read(part, str(mapping(part, "agent").get("name") or "subagent"), depth + 1)
        rest = document.get("continued_trajectory_ref")
        if rest and (part := self._part({"trajectory_path": rest}, {}, depth)):
            self.read(part, name, depth + 1, continues=True)

    def _part(self, ref: dict[str, Any], parts: dict[str, dict[str, Any]], depth: int) -> dict[str, Any]:
        """The document that a reference names, the first time that it does; empty otherwise."""
        key, path = str(ref.get("trajectory_id") or ""), str(ref.get("trajectory_path") or "")
        file = self._others.get(Path(path).name)
        mark = str(file) if file else f"{depth} {key}"
        if mark in self._read:
            return {}
        self._read.add(mark)
        if depth >= _DEEPEST or len(self._read) > _MOST_PARTS:
            self._building.problem("Subagents are nested too deeply or are too many; the rest was left out.")
            return {}
        found = parts.get(key) or (mapping(json_file(file, self._building)) if file else {})
        if not found:
            self._building.problem(f"The trajectory {(key or path)[:80]!r} that it refers to is not there.")
        return found

    def _step(self, step: dict[str, Any], name: str) -> list[dict[str, Any]]:
        """Add one step; returns its references to subagents."""
        building, origin = self._building, mapping(step, "extra").get("source")
        source = Source.TOOL if origin == "tool" else _SOURCES.get(str(step.get("source")), Source.SYSTEM)
        text = _text(step.get("message"))
        if name:
            text = f"[{name}] {text}".rstrip()
        metrics = mapping(step, "metrics")
        uses = [_call(call) for call in entries(step.get("tool_calls"))]
        index = building.step(
            source, text, reasoning=step.get("reasoning_content") or "", calls=uses, time=moment(step.get("timestamp")),
            usage=_usage(metrics, ""), dollars=_dollars(metrics, "cost_usd"),
        )  # fmt: skip
        results = entries(mapping(step, "observation").get("results"))
        failed = mapping(step, "extra").get("failed_calls")  # where we wrote it as version 1.4
        for result in results:
            extra = mapping(result, "extra")
            call = result.get("source_call_id") or extra.get("call") or ""
            bad = extra.get("failed") is True or (isinstance(failed, list) and call in failed)
            building.observe_at(index, call, _text(result.get("content")), failed=bad)
        return [ref for result in results for ref in entries(result.get("subagent_trajectory_ref"))]


def _call(call: dict[str, Any]) -> StepCall:
    unnamed = mapping(call, "extra").get("unnamed") is True
    name = "" if call.get("function_name") == "unknown" else str(call.get("function_name") or "")
    return StepCall(
        id="" if unnamed else str(call.get("tool_call_id") or ""), name=name, arguments=mapping(call, "arguments")
    )


def _text(content: object) -> str:
    """Text of a message; of an image or sound, where it lies."""
    if isinstance(content, str) and content.startswith("[{'type': 'input_text',"):
        # So Harbor's Codex writes what a tool answered in parts: as Python shows a list.
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            shown = ast.literal_eval(content)
            content = [{**part, "type": "text"} if "text" in part else part for part in entries(shown)]
    if isinstance(content, str):
        return content
    parts = []
    for part in entries(content):
        where = mapping(part, "source").get("path")
        parts.append(str(part.get("text") or "") if part.get("type") == "text" else f"[{part.get('type')}: {where}]")
    return "\n".join(parts)


def _usage(metrics: dict[str, Any], prefix: str) -> Usage | None:
    counts = {key: _count(metrics.get(f"{prefix}{key}_tokens")) for key in ("prompt", "completion", "cached")}
    if counts["prompt"] is None and counts["completion"] is None:
        return None
    extra = mapping(metrics, "extra")
    return Usage(
        input=counts["prompt"] or 0, output=counts["completion"] or 0, cached=counts["cached"] or 0,
        reasoning=_count(extra.get("reasoning_tokens")) or 0, cache_write=_count(extra.get("cache_write_tokens")) or 0,
    )  # fmt: skip


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else None


def _dollars(metrics: dict[str, Any], key: str) -> Decimal | None:
    return money(mapping(metrics, "extra").get(key)) or money(metrics.get(key))


def _version_text(version: object) -> str:
    return "" if version in (None, "unknown") else str(version)
