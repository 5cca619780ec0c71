"""What a run folder asks for that only the command line may grant, when the run goes on.

A folder may come from somebody else, so its plan is a wish. What would open this machine (no isolation, an open
network) is granted by name alone, always. What would read this machine's files, send a key somewhere or spend
money is granted by name unless the plan was made here (`planned_here`); a received plan's paths are never
followed: the files named on the command line take their place, and must say what the plan's said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from repoassay import plugins
from repoassay.agents import builtin_specs
from repoassay.engine.models import named_file, provider_of, upstreams_of
from repoassay.errors import BadInput
from repoassay.model_proxy import costs_nothing
from repoassay.sandbox import SAFE_ISOLATIONS
from repoassay.tasks import bundled_suite
from repoassay.text import printable
from repoassay.types import AgentEntry, NamedFile, NetworkPolicy, Plan

__all__ = ["Grants", "grant_words", "permit"]

_AGENTS = "repoassay.agents"


@dataclass(frozen=True, slots=True)
class Grants:
    """What the command line of `resume` repeats by name; see `docs/runs.md` for what needs which."""

    isolation: str | None = None
    network: str | None = None
    suite: str | None = None
    agents: tuple[Path, ...] = ()
    agent_command: str | None = None
    agent_dir: Path | None = None
    template: Path | None = None
    upstreams: tuple[Path, ...] = ()
    dialogue: Path | None = None
    prices: tuple[Path, ...] = ()
    budget_usd: Decimal | None = None
    yes: bool = False


def permit(plan: Plan, grants: Grants, *, here: bool) -> Plan:
    """The plan as it may be carried out. `here`: it was made on this machine.

    Raises:
        BadInput: It asks for something that was not granted.
    """
    if grants.isolation not in (None, plan.isolation):
        raise BadInput(
            f"This run was planned with isolation {plan.isolation!r}, not {grants.isolation!r}.", "Start a new run."
        )
    if plan.isolation not in SAFE_ISOLATIONS and grants.isolation is None:
        how = "as your own account" if plan.isolation == "none" else "which is not verified"
        raise BadInput(
            f"This run's agents and tests would run with isolation {plan.isolation!r}, {how}.",
            f"Accept that by name: --isolation {plan.isolation}",
        )
    if plan.metering.network is NetworkPolicy.OPEN and grants.network != "open":
        raise BadInput(
            "This run's agents would reach everything that this machine does.", "Accept that by name: --network open"
        )
    return plan if here else _received(plan, grants)


def _received(plan: Plan, grants: Grants) -> Plan:
    metering = plan.metering
    plan = plan.model_copy(
        update={
            "suite_folder": _suite(plan, grants),
            "agents": {name: _agent(name, entry, plan, grants) for name, entry in plan.agents.items()},
            "metering": metering.model_copy(
                update={
                    "upstreams": _files(metering.upstreams, grants.upstreams, "--model-upstream"),
                    "prices": _files(metering.prices, grants.prices, "--prices"),
                    "dialogue": _file(metering.dialogue, grants.dialogue, "--dialogue"),
                }
            ),
        }
    )
    _money(plan, grants)
    return plan


def _refuse(what: str, option: str) -> BadInput:
    return BadInput(f"This run was not planned here, and {what}.", f"Repeat it by name: {option}")


def _suite(plan: Plan, grants: Grants) -> str:
    if grants.suite is not None:
        return grants.suite
    if bundled_suite(plan.suite) is None:
        raise _refuse(f"its tasks lie in {plan.suite_folder}", "--suite SUITE")
    return plan.suite


def _agent(name: str, entry: AgentEntry, plan: Plan, grants: Grants) -> AgentEntry:
    kind, own, options = entry.kind or name, entry.kind, dict(entry.options)
    if kind == "command":
        if plan.isolation == "none" and grants.agent_command != options.get("command"):
            raise _refuse(
                f"its command line would run as your own account: {options.get('command', '')[:200]!r}",
                "--agent-command LINE",
            )
        if "folder" in options:
            if grants.agent_dir is None:
                raise _refuse(f"its agent is shown the folder {options['folder']}", "--agent-dir DIR")
            options["folder"] = str(grants.agent_dir.absolute())
    elif plugins.is_dotted(kind):
        if Path(kind) not in grants.agents:
            raise _refuse(f"its agent is Python code of this machine: {kind[:200]}", f"--agent {kind[:200]}")
    elif not plugins.offers(_AGENTS, kind) and kind not in builtin_specs():
        planned = NamedFile(path=kind, sha256=options.get("sha256", ""))
        files = [path for path in grants.agents if not plugins.is_dotted(str(path))]
        own = _files((planned,), files, "--agent")[0].path
    if "template" in options and kind not in plugins.bundled_plugins(_AGENTS):
        planned = NamedFile(path=options["template"], sha256=options.get("template_sha256", ""))
        options["template"] = _files((planned,), _some(grants.template), "--prompt-template")[0].path
    return entry.model_copy(update={"kind": own, "options": options})


def _some(path: Path | None) -> tuple[Path, ...]:
    return () if path is None else (path,)


def _files(planned: Sequence[NamedFile], named: Sequence[Path], option: str) -> tuple[NamedFile, ...]:
    """The files of the command line in the place of the plan's, each with what the plan's said."""
    named_files = {file.sha256: file for file in map(named_file, named)} if planned else {}
    for file in planned:
        if file.sha256 not in named_files:
            but = ", and what was named says something else" if named_files else ""
            raise _refuse(f"it rests on the file {printable(str(file.path))}{but}", f"{option} FILE")
    return tuple(named_files[file.sha256] for file in planned)


def _file(planned: NamedFile | None, named: Path | None, option: str) -> NamedFile | None:
    return _files((planned,), _some(named), option)[0] if planned is not None else None


def _money(plan: Plan, grants: Grants) -> None:
    upstreams = upstreams_of(plan.metering)
    for entry in plan.agents.values():
        upstream = upstreams.get(provider_of(entry))
        if upstream is None or costs_nothing(upstream) or grants.yes or grants.budget_usd is not None:
            continue
        raise BadInput(
            f"This run was not planned here, and would spend your money on {entry.model}.",
            "Limit it with --budget-usd, or agree with --yes.",
        )


def grant_words(plan: Plan) -> list[str]:
    """What a command line says that grants all of a plan that was permitted here, to machines that did not plan it."""
    metering = plan.metering
    words = [f"--isolation={plan.isolation}", f"--suite={plan.suite_folder}", "--yes"]
    words += ["--network=open"] if metering.network is NetworkPolicy.OPEN else []
    for name, entry in plan.agents.items():
        kind, options = entry.kind or name, entry.options
        if kind == "command":
            words += [f"--agent-dir={options['folder']}"] if "folder" in options else []
            words += [f"--agent-command={options.get('command', '')}"] if plan.isolation == "none" else []
        elif plugins.is_dotted(kind) or not (plugins.offers(_AGENTS, kind) or kind in builtin_specs()):
            words.append(f"--agent={kind}")
        if "template" in options and kind not in plugins.bundled_plugins(_AGENTS):
            words.append(f"--prompt-template={options['template']}")
    words += [f"--model-upstream={file.path}" for file in metering.upstreams]
    words += [f"--prices={file.path}" for file in metering.prices]
    words += [f"--dialogue={metering.dialogue.path}"] if metering.dialogue else []
    return list(dict.fromkeys(words))
