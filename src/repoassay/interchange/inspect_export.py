"""Runs as evaluation logs of Inspect, written by Inspect itself, so that its viewer and its other readers take them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repoassay.errors import BadInput, MissingExtra
from repoassay.interchange.inspect_messages import events_of, messages_of, model_usage
from repoassay.interchange.verdict_scores import CORRECT, score_of_verdict
from repoassay.records import FinishedAttempt, counting_attempts
from repoassay.report import ExportSource, read_trajectory
from repoassay.sandbox import temporary_folder
from repoassay.tasks import named_suites
from repoassay.text import join_names, printable
from repoassay.types import Plan, Source, Trajectory

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ModelUsage

__all__ = ["InspectLog", "InspectLogFolder"]

_CHUNK = 1 << 20
_NOBODY = "none"
"""The model of an evaluation in which none was asked, as Inspect calls it."""
_LOST = (
    "Attempts that were made again, files of deliverable tasks, what an agent printed, and limits.",
    "Times of steps that are no call of a model.",
    "Who vouches for a verdict: read back, it is a report.",
)


class InspectLog:
    """The attempts of one agent, each a sample; an attempt's number is its epoch."""

    title = "a run as an evaluation log of Inspect (.eval), for its viewer"
    takes = ("run",)
    version = "log format 2 (inspect_ai 0.3)"
    lost = _LOST

    def export(self, source: ExportSource) -> Iterator[bytes]:
        """Yield the file.

        Raises:
            BadInput: The run has several agents, which are several evaluations.
            MissingExtra: Inspect is not installed.
        """
        agents = _by_agent(source)
        if len(agents) > 1:
            raise BadInput(
                f"The run has several agents: {join_names(sorted(agents), 6)}.",
                "Write a log for each with --as inspect-logs, or name one attempt.",
            )
        for attempts in agents.values():
            yield from _log_bytes(source, attempts)


class InspectLogFolder:
    """A log for each agent of a run."""

    title = "a run as a folder of Inspect's evaluation logs, one for each agent"
    takes = ("run",)
    version = InspectLog.version
    lost = _LOST

    def files(self, source: ExportSource) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield each file's name, and its content.

        Raises:
            MissingExtra: Inspect is not installed.
        """
        for number, (agent, attempts) in enumerate(sorted(_by_agent(source).items()), 1):
            plain = "".join(letter if letter.isalnum() else "-" for letter in agent)[:60].strip("-")
            yield f"{number:02}-{plain}.eval", _log_bytes(source, attempts)


def _by_agent(source: ExportSource) -> dict[str, list[FinishedAttempt]]:
    """The attempts that count, in order of task and number, by their agent."""
    assert source.run is not None
    if source.attempt:
        counting = list(source.attempts())
    else:
        counting = list(counting_attempts(source.run.plan, list(source.attempts()), lambda one: one.attempt).values())
    agents: dict[str, list[FinishedAttempt]] = {}
    for found in sorted(counting, key=lambda one: (one.attempt.task, one.attempt.number)):
        agents.setdefault(found.attempt.agent, []).append(found)
    if not agents:
        raise BadInput(f"No attempt of {source.run.path} is finished.", "There is nothing to export yet.")
    return agents


def _log_bytes(source: ExportSource, attempts: Sequence[FinishedAttempt]) -> Iterator[bytes]:
    """The bytes of a log of these attempts."""
    try:
        from inspect_ai.log import write_eval_log
    except ModuleNotFoundError:
        raise MissingExtra("inspect_ai", "inspect") from None
    assert source.run is not None
    with temporary_folder("export") as place:
        path = Path(place, "log.eval")
        write_eval_log(_log(source.run.plan, attempts), str(path), format="eval")
        with path.open("rb") as stream:
            while data := stream.read(_CHUNK):
                yield data


def _log(plan: Plan, attempts: Sequence[FinishedAttempt]) -> EvalLog:
    """The whole evaluation."""
    from importlib.metadata import version

    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, EvalStats

    agent = attempts[0].attempt.agent
    planned = plan.agents[agent].model or _NOBODY
    samples = [_sample(found, planned) for found in attempts]
    models = {sample.output.model for sample in samples}
    model = models.pop() if len(models) == 1 else planned
    ids = list(dict.fromkeys(sample.id for sample in samples))
    spec = EvalSpec(
        eval_id=f"{plan.id}-{attempts[0].attempt.id}",
        run_id=plan.id,
        created=_time(plan.created),
        task=plan.suite,
        task_id=plan.id,
        task_version=plan.suite_version or 0,
        task_registry_name=f"repoassay/{plan.suite}" if plan.suite in named_suites() else None,
        solver=agent,
        dataset=EvalDataset(name=plan.suite, samples=len(ids), sample_ids=ids, shuffled=False),
        model=model,
        config=EvalConfig(epochs=max(sample.epoch for sample in samples)),
        packages={"inspect_ai": version("inspect_ai"), "repoassay": plan.versions.get("repoassay", "")},
        metadata=_origin(plan),
    )
    ended = max(found.attempt.ended for found in attempts)
    return EvalLog(
        status="success",
        eval=spec,
        results=_results(samples),
        stats=EvalStats(
            started_at=_time(min(found.attempt.started for found in attempts)), completed_at=_time(ended),
            model_usage=_summed(samples),
        ),
        samples=samples,
    )  # fmt: skip


def _origin(plan: Plan) -> dict[str, Any]:
    """What stands in the log of the run itself; whose report its verdicts are, where it was imported."""
    fields: dict[str, Any] = {"isolation": plan.isolation}
    if plan.origin is not None:
        fields["origin"] = plan.origin.sentence
    return {"repoassay": fields}


def _sample(found: FinishedAttempt, model: str) -> EvalSample:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    attempt = found.attempt
    trajectory = read_trajectory(found.folder) or Trajectory(agent=attempt.agent)
    model = trajectory.model or model
    messages = messages_of(trajectory)
    answer = next((step.text for step in reversed(trajectory.steps) if step.source is Source.AGENT), "")
    usage = model_usage(trajectory, attempt.spent)
    seconds = (attempt.ended - attempt.started).total_seconds()
    return EvalSample(
        id=attempt.task,
        epoch=attempt.number,
        input=_prompt_of(found, trajectory),
        target="",
        messages=messages,
        events=events_of(trajectory, model, messages, attempt.started),
        output=ModelOutput.from_content(model, answer),
        scores={"verdict": Score(**score_of_verdict(found.verdict, _diff(found)))},
        metadata={"repoassay": {"attempt": attempt.id, "agent": attempt.agent, "run": attempt.run}},
        model_usage={model: usage} if usage is not None else {},
        uuid=attempt.id,
        started_at=_time(attempt.started),
        completed_at=_time(attempt.ended),
        total_time=seconds,
        working_time=seconds,
    )


def _prompt_of(found: FinishedAttempt, trajectory: Trajectory) -> str:
    """What the agent was told, as far as anything kept it."""
    prompt = found.folder / "prompt.md"
    if prompt.is_file() and not prompt.is_symlink():
        return prompt.read_text("utf-8", "replace")[:200_000]
    first = next((step.text for step in trajectory.steps if step.source is Source.USER), "")
    return first or f"The task {printable(found.attempt.task, 200)}."


def _diff(found: FinishedAttempt) -> bytes:
    for name in ("changes.diff", "submission.diff"):
        path = found.folder / "submission" / name
        if path.is_file() and not path.is_symlink():
            return path.read_bytes()
    return b""


def _results(samples: Sequence[EvalSample]) -> Any:
    """The figures Inspect shows, over what was scored."""
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore

    values = [score.value for sample in samples if (score := (sample.scores or {}).get("verdict"))]
    scored = [value == CORRECT for value in values if isinstance(value, str)]
    share = sum(scored) / len(scored) if scored else 0.0
    whole = EvalScore(
        name="verdict", scorer="verdict", scored_samples=len(scored), unscored_samples=len(values) - len(scored),
        metrics={"accuracy": EvalMetric(name="accuracy", value=share)} if scored else {},
    )  # fmt: skip
    return EvalResults(total_samples=len(samples), completed_samples=len(samples), scores=[whole])


def _summed(samples: Sequence[EvalSample]) -> dict[str, ModelUsage]:
    total: dict[str, ModelUsage] = {}
    for sample in samples:
        for model, usage in sample.model_usage.items():
            total[model] = total[model] + usage if model in total else usage
    return total


def _time(moment: datetime) -> str:
    return moment.isoformat()
