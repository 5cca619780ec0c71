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

from repoassay.agents.find import AGENTS
from repoassay.agents.spec import builtin_specs, is_dotted
from repoassay.errors import BadInput
from repoassay.model import NamedFile, NetworkPolicy, Plan
from repoassay.run.models import costs_nothing, named_file, provider_of, upstreams_of
from repoassay.suites.bundled import bundled_suite

__all__ = ["Grants", "granted"]


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


def granted(plan: Plan, grants: Grants, *, here: bool) -> Plan:
    """The plan as it may be carried out. `here`: it was made on this machine.

    Raises:
        BadInput: It asks for something that was not granted.
    """
    if grants.isolation not in (None, plan.isolation):
        raise BadInput(
            f"This run was planned with isolation {plan.isolation!r}, not {grants.isolation!r}.", "Start a new run."
        )
    if plan.isolation != "namespaces" and grants.isolation is None:
        raise BadInput(
            f"This run's agents and tests would run with isolation {plan.isolation!r}, as your own account.",
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
            "agents": {name: _agent(name, settings, plan, grants) for name, settings in plan.agents.items()},
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


def _agent(name: str, settings: dict[str, str], plan: Plan, grants: Grants) -> dict[str, str]:
    kind, own = settings.get("kind", name), dict(settings)
    if kind == "command":
        if plan.isolation == "none" and grants.agent_command != settings.get("command"):
            raise _refuse(
                f"its command line would run as your own account: {settings.get('command', '')[:200]!r}",
                "--agent-command LINE",
            )
        if "folder" in settings:
            if grants.agent_dir is None:
                raise _refuse(f"its agent is shown the folder {settings['folder']}", "--agent-dir DIR")
            own["folder"] = str(grants.agent_dir.absolute())
    elif is_dotted(kind):
        if Path(kind) not in grants.agents:
            raise _refuse(f"its agent is Python code of this machine: {kind[:200]}", f"--agent {kind[:200]}")
    elif kind not in AGENTS and kind not in builtin_specs():
        planned = NamedFile(path=kind, sha256=settings.get("sha256", ""))
        files = [path for path in grants.agents if not is_dotted(str(path))]
        own["kind"] = _files((planned,), files, "--agent")[0].path
    if "template" in settings and kind not in AGENTS:
        planned = NamedFile(path=settings["template"], sha256=settings.get("template_sha256", ""))
        own["template"] = _files((planned,), _some(grants.template), "--prompt-template")[0].path
    return own


def _some(path: Path | None) -> tuple[Path, ...]:
    return () if path is None else (path,)


def _files(planned: Sequence[NamedFile], named: Sequence[Path], option: str) -> tuple[NamedFile, ...]:
    """The files of the command line in the place of the plan's, each with what the plan's said."""
    given = {file.sha256: file for file in map(named_file, named)} if planned else {}
    for file in planned:
        if file.sha256 not in given:
            but = ", and what was named says something else" if given else ""
            raise _refuse(f"it rests on the file {file.path}{but}", f"{option} FILE")
    return tuple(given[file.sha256] for file in planned)


def _file(planned: NamedFile | None, named: Path | None, option: str) -> NamedFile | None:
    return _files((planned,), _some(named), option)[0] if planned is not None else None


def _money(plan: Plan, grants: Grants) -> None:
    upstreams = upstreams_of(plan.metering)
    for settings in plan.agents.values():
        upstream = upstreams.get(provider_of(settings))
        if upstream is None or costs_nothing(upstream) or grants.yes or grants.budget_usd is not None:
            continue
        raise BadInput(
            f"This run was not planned here, and would spend your money on {settings['model']}.",
            "Limit it with --budget-usd, or agree with --yes.",
        )
