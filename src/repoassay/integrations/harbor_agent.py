"""An agent of RepoAssay in Harbor's trials: installed and started as in a run of ours, its model calls metered.

Loaded by Harbor itself (`--agent`), and works in `SandboxEnvironment` alone: there its program is mounted, and the one
thing it reaches is the model proxy, so that no key enters and no call goes uncounted. In a container of Harbor's own it
would need the key. The trial gets tokens and dollars as the proxy counted them, and a trajectory in ATIF.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

from harbor.agents.base import BaseAgent
from harbor.agents.capabilities import AgentCapabilities
from harbor.agents.installed.base import ApiError, NonZeroAgentExitCodeError
from harbor.agents.options import AgentOptions
from harbor.models.agent.context import AgentContext, ModelUsage
from pydantic import Field

from repoassay.agents import AccessPoint, ModelledAgent, PlacedAgent, exit_meaning, find_modelled, last_lines
from repoassay.errors import BadInput, Interrupted, Unavailable
from repoassay.formats import to_atif
from repoassay.integrations.harbor_environment import SandboxEnvironment
from repoassay.model_proxy import (
    AttemptSession,
    Budget,
    Prices,
    ScriptedUpstream,
    Upstream,
    find_upstream,
    known_upstreams,
    open_gateway,
)
from repoassay.records import JOURNAL, STEPS, read_steps
from repoassay.sandbox import Completed, SandboxNetwork, open_door, temporary_folder
from repoassay.types import Ended, Exit, Spending, Trajectory

if TYPE_CHECKING:
    from harbor.environments.base import BaseEnvironment
    from harbor.models.trial.result import AgentInfo

__all__ = ["SandboxAgent", "SandboxAgentOptions"]

_PORT = 4710
_WIND_UP = 3.0
"""Seconds an agent whose budget is spent may take to end by itself."""
_MOST_PRINTED = 4 * 2**20
_KEPT = "repoassay"
"""Folder of a trial's agent folder: prompt, transcript, and the model proxy's journal."""


class SandboxAgentOptions(AgentOptions):  # type: ignore[misc]
    """What `--agent-kwarg KEY=VALUE` takes."""

    agent: str = Field(description="A built-in agent of RepoAssay by name, or the path of an agent's TOML file.")
    budget_usd: Decimal | None = Field(default=None, ge=0, description="Dollars that the trial may spend.")
    max_calls: int | None = Field(default=None, ge=1, description="Model calls that the trial may make.")
    max_tokens: int | None = Field(default=None, ge=1, description="Tokens that the trial may use.")
    upstreams: Path | None = Field(default=None, description="A TOML file of further providers.")
    prices: Path | None = Field(default=None, description="A price table that goes before the shipped one.")
    dialogue: Path | None = Field(default=None, description="The dialogue of the provider `scripted`, to try it out.")


_NOBODY = AccessPoint(model="", key="", urls={})


@dataclass(slots=True)
class _Work:
    """An agent between its setup and its end: its way to the model, and what it did and spent."""

    agent: PlacedAgent
    entry: AttemptSession | None
    trajectory: Trajectory | None = None
    spent: Spending | None = None
    problems: list[str] = field(default_factory=list)


class SandboxAgent(BaseAgent):  # type: ignore[misc]
    """One trial's agent; its name and version are those of the agent that it starts.

    Raises:
        BadInput: There is no such agent, model or file.
        Unavailable: The environment is another one than ours, or this machine lacks what the agent needs.
    """

    capabilities = AgentCapabilities(atif=True)
    options_model = SandboxAgentOptions

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        assert isinstance(self.options, SandboxAgentOptions)
        self._asked = self.options
        self._agent: ModelledAgent = find_modelled(self._asked.agent)
        self._place = temporary_folder("harbor-agent")
        self._work: _Work | None = None
        self._done: _Work | None = None

    @staticmethod
    def name() -> str:
        """What Harbor calls the class."""
        return "repoassay"

    def version(self) -> str | None:
        """Of the agent that is started."""
        return self._agent.spec.version or None

    def to_agent_info(self) -> AgentInfo:
        """Harbor's results name the agent that worked."""
        info: AgentInfo = super().to_agent_info()
        return info.model_copy(update={"name": self._agent.name})

    async def setup(self, environment: BaseEnvironment) -> None:
        """Install the agent unless it is in the cache, and open its way to the model."""
        if not isinstance(environment, SandboxEnvironment):
            raise Unavailable(
                f"{self._agent.name} works in RepoAssay's sandbox alone, where no key of yours enters.",
                "Add --env repoassay.integrations.harbor_environment:SandboxEnvironment, or take Harbor's own agent.",
            )
        if self.extra_env:
            raise BadInput(
                "Variables of --agent-env would be seen by the agent.",
                "Leave them out: keys are read from the variables of Harbor's own process.",
            )
        await asyncio.to_thread(self._prepare, environment)

    def _prepare(self, environment: SandboxEnvironment) -> None:
        bench, place = environment.bench, Path(self._place.name)
        self._agent.prepare(bench.cache, bench.sandbox)
        with contextlib.ExitStack() as ends:
            entry, access = self._admitted(environment, place, ends) if self._agent.dialect else (None, _NOBODY)
            self._work = _Work(self._agent.at(access, place), entry)
            environment.at_stop(ends.pop_all())

    def _admitted(
        self, environment: SandboxEnvironment, place: Path, ends: contextlib.ExitStack
    ) -> tuple[AttemptSession, AccessPoint]:
        options = self._asked
        if not self.model_name:
            raise BadInput(f"The agent {self._agent.name!r} needs a model.", "Name it with --model provider/name.")
        upstreams: list[Upstream | ScriptedUpstream] = [
            *known_upstreams([options.upstreams] if options.upstreams else []).values(),
            *([ScriptedUpstream(options.dialogue)] if options.dialogue else []),
        ]
        find_upstream(self.model_name, upstreams)
        prices = Prices.shipped(*([options.prices] if options.prices else []))
        gateway = ends.enter_context(open_gateway(upstreams, prices=prices, listen=False))

        self._ending = Timer(_WIND_UP, environment.kill)
        self._ending.daemon = True
        entry = gateway.admit(
            environment.session_id, model=self.model_name, journal=place / JOURNAL, steps=place / STEPS,
            budget=Budget(calls=options.max_calls, tokens=options.max_tokens, dollars=options.budget_usd),
            on_exhausted=lambda _: self._ending.start(),
        )  # fmt: skip
        sandbox = environment.bench.sandbox
        door = open_door(sandbox, SandboxNetwork.NONE, _PORT, partial(gateway.serve, entry=entry))
        urls = entry.urls(f"http://127.0.0.1:{door.port}")
        return entry, AccessPoint(model=entry.model, key=entry.key, urls=urls, doors=(door,), calls=options.max_calls)

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        """Let the agent work; `populate_context_post_run` tells of it, whatever way it ends.

        Raises:
            NonZeroAgentExitCodeError: It ended with another code than 0; `ApiError` where its last call of the model
                failed on the other side.
        """
        assert isinstance(environment, SandboxEnvironment)
        held, self._work = self._work, None
        if held is None:
            raise RuntimeError("This agent works on one instruction of one trial.")
        command = environment.attempt.command(held.agent, instruction)
        await asyncio.to_thread(environment.admit, command)
        session = environment.session
        work = asyncio.ensure_future(
            asyncio.to_thread(
                session.exec, command.argv, cwd=command.cwd, env=command.env, stdin=command.stdin, output=_MOST_PRINTED
            )
        )
        done = Completed(Exit(ended=Ended.CANCELLED))
        try:
            done = await asyncio.shield(work)
        except asyncio.CancelledError:  # its time is up
            await asyncio.to_thread(environment.kill)
            done = await work
            raise
        except Interrupted as error:
            raise RuntimeError(f"The sandbox has ended: {error}") from error
        finally:
            if held.entry is not None:
                self._ending.cancel()  # or it would end the verifier
                held.spent = await asyncio.to_thread(held.entry.close)
            for spec in command.collect:
                try:
                    await environment.download_dir(spec.source, spec.into)
                except (RuntimeError, OSError, Interrupted) as error:
                    held.problems.append(f"{spec.source} could not be read: {error}")
            held.trajectory = held.agent.read(done)
            self._done = held
        self._check(done.exit, done, held.spent)

    def _check(self, ending: Exit, done: Completed, spent: Spending | None) -> None:
        if spent is not None and spent.outage:
            raise ApiError(f"The last call of the model failed: {spent.outage}.")
        if ending.code != 0 and not (spent and spent.exhausted):
            printed = "; ".join(last_lines((done.stdout + done.stderr).decode("utf-8", "replace")))
            raise NonZeroAgentExitCodeError(f"{self._agent.name} ended with {exit_meaning(ending)}: {printed}")

    def populate_context_post_run(self, context: AgentContext) -> None:
        """Write the trajectory, and tell tokens and dollars.

        Harbor calls it once it has fetched what lay in the sandbox's folder of logs, so that no file which the agent
        left there stands in the place of ours.
        """
        held, self._done = self._done, None
        if held is None or held.trajectory is None:
            return
        trajectory, spent, place = held.trajectory, held.spent, Path(self._place.name)
        if not trajectory.steps:
            trajectory = trajectory.model_copy(update={"steps": read_steps(place)})
        document = to_atif(trajectory, session=str(self.session_id or ""))
        if spent is not None:
            document["final_metrics"] = {**_final_metrics(spent), "total_steps": len(trajectory.steps)}
            _fill(context, self.model_name or "", spent)
        context.metadata = {
            **_exactly(spent),
            "agent": self._agent.name,
            "problems": [*held.problems, *trajectory.problems],
        }
        _put(self.logs_dir / _KEPT, place)
        if trajectory.steps:
            _put(self.logs_dir / "trajectory.json", json.dumps(document, ensure_ascii=False))
        self._place.cleanup()


def _final_metrics(spent: Spending) -> dict[str, Any]:
    """What the model proxy counted, in the place of what the agent tells."""
    metrics: dict[str, Any] = {
        "total_prompt_tokens": spent.usage.input,
        "total_completion_tokens": spent.usage.output,
        "total_cached_tokens": spent.usage.cached,
        "extra": {"metered_by": "RepoAssay", **_exactly(spent)},
    }
    return metrics if spent.dollars is None else {**metrics, "total_cost_usd": float(spent.dollars)}


def _exactly(spent: Spending | None) -> dict[str, Any]:
    """The account in full: Harbor has no place for calls, unknown amounts, or why a budget ended it."""
    return {} if spent is None else {"spending": spent.model_dump(mode="json", exclude_defaults=True)}


def _fill(context: AgentContext, model: str, spent: Spending) -> None:
    usage, cost = spent.usage, None if spent.dollars is None else float(spent.dollars)
    context.n_input_tokens, context.n_cache_tokens = usage.input, usage.cached
    context.n_output_tokens, context.cost_usd = usage.output, cost
    context.model_usage = {
        model: ModelUsage(
            n_input_tokens=usage.input, n_cache_tokens=usage.cached, n_output_tokens=usage.output, cost_usd=cost
        )
    }


def _put(target: Path, content: str | Path) -> None:
    """Write a file, or copy a folder, in the place of whatever came out of the sandbox under this name."""
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    if isinstance(content, Path):
        shutil.copytree(content, target)
    else:
        target.write_text(content, encoding="utf-8")
