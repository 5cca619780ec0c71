"""Agents on a suite, from Python: plan, run, record; and going on with a run that was stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from repoassay.api.agents import AgentLike, agents_again, planned_agents
from repoassay.api.events import EventSender, OnEvent, RunOpened, RunPlanned, RunResumed
from repoassay.api.runs import Run, load_run
from repoassay.api.settings import (
    Amount,
    Names,
    Paths,
    SuiteLike,
    attempt_limits,
    checked_isolation,
    checked_reading,
    checked_suite,
    checked_sweep,
    checked_workers,
    metering_of,
    money,
    one_of,
    several_paths,
    strings,
    whole,
)
from repoassay.engine import (
    Grants,
    Settings,
    Stop,
    all_slots,
    bound_of,
    check,
    check_executor,
    execute,
    make_plan,
    open_run,
    preflight,
    prepare,
    resume_run,
    run_lock,
    spread,
)
from repoassay.errors import BadInput, Interrupted, RepoAssayError
from repoassay.grading import check_packages
from repoassay.mutants import known_strengths
from repoassay.records import RunFolder, WorkShare, is_store_url, write_strengths
from repoassay.sandbox import Cache, open_sandbox
from repoassay.types import Limits, NetworkPolicy, Outcome, Reading

__all__ = ["evaluate", "resume"]


def evaluate(
    suite: SuiteLike,
    *,
    agent: AgentLike | Sequence[AgentLike],
    model: Names | None = None,
    tasks: Names = (),
    attempts: int = 1,
    limits: Limits | Amount | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    context_window: int | None = None,
    attempt_budget_usd: Amount | None = None,
    budget_usd: Amount | None = None,
    sweep: Mapping[str, Sequence[Amount]] | None = None,
    workers: int | None = None,
    out: str | Path = "runs",
    network: str | NetworkPolicy | None = None,
    isolation: str = "namespaces",
    criteria: str | Reading = "fair",
    retries: int = 1,
    concurrency: Mapping[str, int] | None = None,
    upstreams: Paths = (),
    dialogue: str | Path | None = None,
    prices: Paths = (),
    command: str | Mapping[str, str] | None = None,
    agent_folder: str | Path | None = None,
    prompt_template: str | Path | None = None,
    released: bool = False,
    graded: bool = True,
    look_first: bool = True,
    executor: str = "local",
    plan_only: bool = False,
    on_event: OnEvent | None = None,
    stop: Stop | None = None,
) -> Run:
    """Let agents work on the tasks of a suite and grade what they leave; returns when every attempt is finished.

    Every agent works with every model, on every task, `attempts` times. Calling this is consent to what it costs: limit
    it with `budget_usd`. Blocks; call it from a thread to do other things meanwhile.

    Args:
        suite: A bundled suite's name, a folder of tasks, or one task's folder.
        agent: One agent or several: a name (`repoassay agents list`), the path of a TOML file, `package.module:name`, a
            function of (workspace, instruction), or an object with a method `command`.
        model: `provider/name` of one model or several that agents ask.
        tasks: Globs over task ids; all tasks without.
        attempts: How often each task is attempted.
        limits: `Limits(seconds=...)`, or the seconds alone, that replace the tasks' own.
        max_calls: Model calls an attempt may make.
        max_tokens: Tokens an attempt may read and write.
        context_window: The longest prompt in tokens; longer ones are refused.
        attempt_budget_usd: Dollars an attempt may spend.
        budget_usd: Dollars the whole run may spend.
        sweep: Values of timeout, max_iterations, max_tokens, context_window or budget_usd; each makes an entry.
        workers: How many workspaces at a time, on each node of another executor than `local`; by default one a core.
        out: The folder that runs are kept in.
        network: What agents reach, instead of each task's own policy: none, model, packages or open.
        isolation: `namespaces`, or `none`, which protects nothing.
        criteria: Which criteria decide: fair or published.
        retries: How often an attempt that a fault of ours spoiled is made again.
        concurrency: Attempts at a time by provider.
        upstreams: TOML files that say where models are.
        dialogue: A file with what the models `scripted/...` say.
        prices: Price tables put on top of the shipped one.
        command: The command line of the agent `command`, or several by the names reports are to show; `agent_folder` is
            what they are shown read-only as {agent}.
        prompt_template: A file put around instructions instead of the shipped prompt.
        released: Lay out the release a task names instead of the commit it pins.
        graded: Whether what agents leave is judged.
        look_first: Start each agent once, and knock at each model's server, before anything is laid out.
        executor: Who makes attempts: `local`, `ray[://HOST:PORT]`, `slurm://NODES` or a plug-in's (docs/clusters.md).
        plan_only: Lay out the run folder and make no attempt; `resume` does, or its shares.
        on_event: Called with each event (`repoassay.api.events`), never two at a time, from several threads. What it
            raises stops the run.
        stop: Lets another thread stop the run.

    Raises:
        BadInput: A setting is unknown or impossible; nothing was run.
        Unavailable: This machine lacks something; nothing was run.
        Interrupted: By Ctrl-C or `stop`. The error's `run` holds what is finished.
        RepoAssayError: The budget is spent before all is done; `run` as above.

    Examples:
        >>> def careless(workspace, instruction):
        ...     workspace.write("output/daily.csv", workspace.run("head -1 inputs/north.tlog").stdout)
        >>> run = ra.evaluate("starter", agent=[careless, "reference"], tasks="sensor-log-daily")
        >>> sorted((one.agent, one.outcome.value) for one in run.attempts)
        [('careless', 'failed'), ('reference', 'passed')]
        >>> ra.evaluate("starter", agent="codx")
        Traceback (most recent call last):
        ...
        repoassay.errors.BadInput: There is no agent called 'codx'. Did you mean codex? ...
    """
    chosen = planned_agents(
        agent, command=command, folder=Path(agent_folder) if agent_folder else None,
        template=Path(prompt_template) if prompt_template else None,
    )  # fmt: skip
    others = {
        "max_iterations": max_calls, "max_tokens": max_tokens, "context_window": context_window,
        "budget_usd": attempt_budget_usd,
    }  # fmt: skip
    entries = spread(chosen.entries, strings(model or ()), attempt_limits(limits, others), checked_sweep(sweep))
    metering = metering_of(
        upstreams=upstreams, dialogue=dialogue, prices=prices, network=network, concurrency=concurrency,
        retries=retries, budget_usd=budget_usd,
    )  # fmt: skip
    settings = Settings(
        agents=entries, attempts=whole("attempts", attempts, 1, 1000), workers=checked_workers(workers),
        isolation=checked_isolation(isolation), reading=checked_reading(criteria), metering=metering, graded=graded,
        released=released,
    )  # fmt: skip
    found = checked_suite(suite, tasks).live(strings(tasks))
    found = found.released() if released else found
    check_packages(found.tasks, settings.reading)
    plan = make_plan(found, settings)
    cache = Cache()
    sandbox = open_sandbox(settings.isolation, cache)  # refuse before a run folder is made
    agents = check(plan, found, sandbox, chosen.own)
    check_executor(executor, plan, chosen.own)
    events = EventSender(on_event)
    events.send(RunPlanned(plan, bound_of(plan)))
    prepare(agents.values(), cache, sandbox)
    started = preflight(plan, found, agents, cache, sandbox) if look_first and not plan_only else ()
    folder = open_run(plan, Path(out))
    if (strengths := known_strengths(found, cache.path)).tasks:
        write_strengths(folder.path, strengths)
    run = Run(folder.path)
    with _naming(run), run_lock(folder):
        events.send(RunOpened(folder.path, plan.size))
        if plan_only:
            return run
        execute(
            folder, found, all_slots(folder), events, cache, own=chosen.own, stop=stop, known_starts=started,
            executor=executor, node_workers=workers,
        )  # fmt: skip
    return run


def resume(
    run: Run | str | Path,
    *,
    agent: AgentLike | Sequence[AgentLike] | None = None,
    only: Names = (),
    budget_usd: Amount | None = None,
    isolation: str | None = None,
    network: str | None = None,
    suite: str | None = None,
    command: str | None = None,
    agent_folder: str | Path | None = None,
    prompt_template: str | Path | None = None,
    upstreams: Paths = (),
    dialogue: str | Path | None = None,
    prices: Paths = (),
    spend: bool = False,
    look_first: bool = True,
    executor: str = "local",
    workers: int | None = None,
    share: str | None = None,
    on_event: OnEvent | None = None,
    stop: Stop | None = None,
) -> Run:
    """Go on with a run where it stopped. Finished attempts are kept; what was spent counts against the budget.

    What a plan may not have by itself is repeated here by name, as docs/runs.md says: isolation "none" and an open
    network always; files, folders and money of a run that was not planned on this machine.

    Args:
        run: A run, its folder, or `latest`.
        agent: The run's agents that are Python functions or objects of this program, and files of a received run's.
        only: Instead make attempts with these outcomes again, such as "timed_out".
        budget_usd: Dollars the whole run may spend, what was spent before included.
        isolation: Accept that the run was planned with this isolation.
        network: "open" accepts that agents reach everything.
        suite: Where the tasks of a received run are; the arguments up to `prices` are its other files, by name.
        spend: Spend what a received run may cost.
        look_first: See `evaluate`.
        executor: See `evaluate`; it need not be the one that the run began on.
        workers: How many workspaces at a time instead of the plan's number; on each node, of another executor.
        share: `I/N`: make only the I-th (from 0) of N shares of what is left, beside processes that make the others,
            and record it apart; `repoassay resume RUN --collect` brings them together.
        on_event: See `evaluate`.
        stop: See `evaluate`.

    Raises:
        BadInput: The folder is no run, asks for what was not granted, is being worked on, or its tasks or agents
            have changed.
        Interrupted: By Ctrl-C or `stop`. The error's `run` holds what is finished.

    Examples:
        >>> ra.resume(run).complete  # nothing was left to do
        True
        >>> again = ra.resume("latest", only="failed", agent=careless)
        >>> [(one.agent, one.counted) for one in again.attempts if not one.passed]
        [('careless', False), ('careless', True)]
    """
    if not isinstance(run, Run) and is_store_url(run) and not Path(run).exists():
        raise BadInput(
            "A stored run cannot go on where it lies.",
            f"Copy it first: repoassay store pull {run} FOLDER; then resume it.",
        )
    opened = run if isinstance(run, Run) else load_run(run)
    folder = RunFolder(opened.path)
    own, names = agents_again(folder.plan, agent) if agent is not None else ({}, ())
    outcomes = [Outcome(one_of("outcome", name.replace("-", "_"), list(Outcome))) for name in strings(only)]
    grants = Grants(
        isolation=isolation, network=network, suite=suite, agents=names, agent_command=command,
        agent_dir=Path(agent_folder) if agent_folder else None, upstreams=several_paths(upstreams),
        template=Path(prompt_template) if prompt_template else None, prices=several_paths(prices),
        dialogue=Path(dialogue) if dialogue else None, yes=spend,
    )  # fmt: skip
    events = EventSender(on_event)
    with _naming(opened):
        kept = resume_run(
            folder, events, outcomes, money("budget_usd", budget_usd), grants, own, stop, look_first=look_first,
            executor=executor, node_workers=workers and checked_workers(workers),
            share=WorkShare.parse(share) if share is not None else None,
        )  # fmt: skip
    if not kept.slots:
        events.send(RunResumed(kept.kept, kept.recovered, kept.torn, 0))
    return opened


@contextlib.contextmanager
def _naming(run: Run) -> Iterator[None]:
    """Let whatever ends a run name it, and Ctrl-C be an `Interrupted` like every other stop."""
    try:
        yield
    except RepoAssayError as error:
        error.run = run
        raise
    except KeyboardInterrupt as error:
        stopped = Interrupted("Stopped; every finished attempt is kept.", f"Continue with: repoassay resume {run.path}")
        stopped.run = run
        raise stopped from error
