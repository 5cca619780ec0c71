"""Before a plan is carried out: does every agent start in the sandbox, and does every model's server let us in?

Each agent is started once in the workspace of the plan's first task, and of the first task of each further environment,
as long as these are few. It has started when it comes to the port where its model would be, when it ends well, or when
it has not ended after a moment; then it is ended. No model answers it. A server of models is asked for its list, and
for a few tokens: some vendors show their lists to anybody, some serve a dialect for some models alone, and some let
nobody in whose money is spent.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from repoassay.agents import (
    HERE,
    AccessPoint,
    Agent,
    AsksModel,
    FunctionAgent,
    PluginAgent,
    exit_meaning,
    is_own,
    lacks,
    last_lines,
    start_failure,
)
from repoassay.engine.model_access import NO_MODEL, PORT, client_env
from repoassay.engine.models import provider_of, upstreams_of
from repoassay.errors import BadInput, InfraFault, Unavailable
from repoassay.model_proxy import VENDORS, Upstream, check_reachable
from repoassay.sandbox import (
    Cache,
    Command,
    Completed,
    Sandbox,
    network_of,
    open_door,
    permitted_hosts,
    temporary_folder,
)
from repoassay.tasks import SuiteFolder
from repoassay.types import AgentEntry, Ended, NetworkPolicy, Plan
from repoassay.workspace import PreparedTask, lay_out

__all__ = ["preflight", "start_once"]

_PATIENCE = 0.8
"""Seconds in which an agent without a model shows that it cannot start."""
_PATIENCE_MODEL = 15.0
"""The same for one that is to ask a model, which ends with its first call, as programs on Node do after seconds; and
for one that has failed before, which ends as soon unless it starts: a busy machine must not make a start of a delay."""
_ENVIRONMENTS = 4
"""Environments in which agents are started; each has to be built before anything is worked on."""
_LOOKED_AT = 40
"""Tasks that are laid out to find these; large suites have hundreds of repositories."""
_SKIP = "`--no-preflight` skips this look."


def preflight(
    plan: Plan, suite: SuiteFolder, agents: Mapping[str, Agent], cache: Cache, sandbox: Sandbox
) -> frozenset[str]:
    """Start every agent of a plan once, and knock at every model's server.

    Args:
        plan: The plan.
        suite: Its tasks; agents are started in the workspaces of those that can be laid out.
        agents: By the plan's names, prepared.
        cache: Where checkouts and environments are.
        sandbox: What they run in.

    Returns:
        The names of the agents that started.

    Raises:
        BadInput: One cannot work, in one sentence with the remedy.
    """
    for model in dict.fromkeys(entry.model for entry in plan.agents.values() if entry.model):
        upstream = upstreams_of(plan.metering).get(provider_of(AgentEntry(model=model)))
        if isinstance(upstream, Upstream):
            check_reachable(upstream, model, _spoken(plan, agents, model))
    own = {name: agent for name, agent in agents.items() if is_own(plan.agents[name].kind or name)}
    for name, agent in own.items():
        if isinstance(agent, FunctionAgent) and (lacking := agent.missing()):
            raise BadInput(f"The agent {name} cannot start: {lacking}.", f"{HERE} {_SKIP}")
    started = set[str]()
    for layout in _layouts(suite, cache, sandbox) if own else ():
        tried = set[tuple[str, str]]()
        for name, agent in own.items():
            entry = plan.agents[name]
            what = (entry.kind or name, str(sorted(entry.options.items())) + str(bool(entry.model)))
            if what not in tried:
                tried.add(what)
                ended = start_once(agent, entry, plan, layout, sandbox)
                if ended is not None:
                    place = f" in the environment of {layout.folder.task.id}" if started else ""
                    _judge(name + place, *ended, sandbox, asks=isinstance(agent, AsksModel) and bool(entry.model))
        started |= {name for name, agent in own.items() if not isinstance(agent, FunctionAgent)}
    return frozenset(started)


def _spoken(plan: Plan, agents: Mapping[str, Agent], model: str) -> set[str]:
    """The dialects in which a model will be asked, as far as its agents say."""
    asking = (agent for name, agent in agents.items() if plan.agents[name].model == model)
    return {agent.dialect for agent in asking if isinstance(agent, AsksModel) and agent.dialect}


def _layouts(suite: SuiteFolder, cache: Cache, sandbox: Sandbox) -> Iterator[PreparedTask]:
    """The workspaces of the first tasks of the first environments; what cannot be laid out, its attempts will say."""
    seen = set[Path]()
    for folder in suite.tasks[:_LOOKED_AT]:
        if folder.absent:
            continue
        try:
            layout = lay_out(folder, suite.repositories, cache, sandbox)
        except (InfraFault, Unavailable):
            continue
        if layout.environment not in seen:
            seen.add(layout.environment)
            yield layout
        if len(seen) == _ENVIRONMENTS:
            return


def start_once(
    agent: Agent, entry: AgentEntry, plan: Plan, layout: PreparedTask, sandbox: Sandbox, *, failed: bool = False
) -> tuple[Command, Completed] | None:
    """Start an agent once and end it; what was run and how it ended, or None when it came to its model.

    None also for one that starts in this process, which nothing could end there, unless it has `failed` before.

    Raises:
        BadInput: It has no command.
    """
    policy = permitted_hosts(
        layout.folder.task.network_policy, sandbox, needs_model=bool(entry.model), requested=plan.metering.network
    )
    came = threading.Event()
    with temporary_folder("preflight") as place:
        into = Path(place)
        patience = _PATIENCE_MODEL if entry.model or failed else _PATIENCE
        try:
            command = _command(agent, entry, layout, sandbox, policy, into, came, patience)
        except InfraFault as error:
            if isinstance(agent, PluginAgent):
                raise BadInput(error.message, f"{error.remedy} {_SKIP}".strip()) from error
            return None  # each attempt will say it, and costs itself alone
        if command.outside is not None and not failed:
            return None
        log = into / "log.txt"
        done = sandbox.run(replace(command, network=network_of(policy), collect=(), log=log), came)
        if command.outside is not None and log.exists():  # its traceback is noted there
            done = replace(done, stdout=log.read_bytes())
    return None if came.is_set() else (command, done)


def _command(
    agent: Agent, entry: AgentEntry, layout: PreparedTask, sandbox: Sandbox, policy: NetworkPolicy, into: Path,
    came: threading.Event, seconds: float,
) -> Command:  # fmt: skip
    """What the agent runs, with a port that notes who comes."""
    limits = layout.folder.task.limits.model_copy(update={"seconds": seconds})
    if not entry.model:
        if isinstance(agent, AsksModel):
            return agent.at(NO_MODEL, into).command(layout, limits)
        return agent.command(layout, limits)
    door = open_door(sandbox, network_of(policy), PORT, lambda listening: _note(listening, came))
    origin = f"http://127.0.0.1:{door.port}"
    urls = {name: origin + vendor.base_path for name, vendor in VENDORS.items()}
    access = AccessPoint(model=entry.model.partition("/")[2], key="preflight", urls=urls, doors=(door,))
    if isinstance(agent, AsksModel):
        return agent.at(access, into).command(layout, limits)
    command = agent.command(layout, limits)
    return replace(command, env={**command.env, **client_env(access)}, doors=(*command.doors, door))


def _note(listening: socket.socket, came: threading.Event) -> None:
    """Wait for the first that comes, in a thread of its own; over when everything inside is dead."""

    def wait() -> None:
        with listening, suppress(OSError):
            listening.settimeout(_PATIENCE_MODEL + 5)
            listening.accept()[0].close()
            came.set()

    threading.Thread(target=wait, name="preflight", daemon=True).start()


def _judge(name: str, command: Command, done: Completed, sandbox: Sandbox, *, asks: bool) -> None:
    """Refuse an agent that ended in a way that tells that it cannot work.

    Raises:
        BadInput: It did.
    """
    output = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace")
    failure = start_failure(done.exit, output)
    output_text = " | ".join(last_lines(output))
    printed = f" It printed: {output_text}." if output_text else ""
    if failure is not None:
        # Shells name a program whose interpreter is missing, as if that were missing itself.
        lacking = lacks(command, sandbox) if done.exit.code in (126, 127) else ""
        why = f"{lacking} (exit {exit_meaning(done.exit)})" if lacking else failure.why
        raise BadInput(f"The agent {name} cannot start: {why}.{printed}", f"{failure.remedy} {_SKIP}")
    if asks and done.exit.ended in (Ended.EXITED, Ended.SIGNALLED) and done.exit.code != 0:
        how = exit_meaning(done.exit)
        raise BadInput(
            f"The agent {name} ended before it asked its model (exit {how}).{printed}",
            f"Check the command in its file with `repoassay agents check`. {_SKIP}",
        )
