"""`repoassay mine`: a suite of proven tasks out of whole histories."""

from __future__ import annotations

import contextlib
import sys
import threading
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.asked_model import asking_options, open_asked_model
from repoassay.cli.mine_difficulty import check_difficulty, difficulty_options, measure_difficulty
from repoassay.exits import interrupt_sets
from repoassay.json_output import print_document
from repoassay.options import (
    PATH,
    FiniteRange,
    executor_option,
    isolation_option,
    json_option,
    node_workers,
    workers_option,
)

if TYPE_CHECKING:
    from repoassay.construct import MinedCommit, MiningPlan, MiningReport

__all__ = ["mine"]

KINDS = ("edit", "pull-request")
CALLS = "model-calls.jsonl"
"""File of a suite with what models were asked for it."""


@click.command("mine")
@click.argument("repositories", nargs=-1, required=True, metavar="REPO...")
@click.option("--since", metavar="DAY", help="The first day (YYYY-MM-DD) whose commits count.")
@click.option("--until", metavar="DAY", help="The last one.")
@click.option(
    "--max",
    "most",
    type=click.IntRange(1),
    metavar="N",
    help="Commits tried of each repository, earlier calls counted; with --update, new ones.  [default: all]",
)
@click.option(
    "--kind",
    "kinds",
    default="edit",
    show_default=True,
    metavar="KIND[,KIND]",
    help="edit, pull-request, or both: commits with an issue's text then become pull-request tasks.",
)
@click.option(
    "--issues",
    type=PATH,
    metavar="FILE|DIR",
    help="Texts of issues and pull requests: JSON with number, title and body, or a folder of 12.md.",
)
@click.option("--mirror", "mirrors", multiple=True, metavar="URL=PATH",
              help="Take a submodule's files from PATH, a folder or git bundle; may be repeated.")  # fmt: skip
@click.option("--rules", type=PATH, metavar="FILE", help="TOML that states rules of the draw otherwise.")
@click.option(
    "--out",
    "suite",
    type=PATH,
    default=Path("mined"),
    show_default=True,
    metavar="SUITE",
    help="Folder of the suite; what is there already is kept.",
)
@click.option(
    "--proofs",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    metavar="N",
    help="How often the tests run at the base, and with the change.",
)
@click.option("--timeout", type=FiniteRange(0, 86400, min_open=True), default=300, show_default=True, metavar="S",
              help="Seconds the tests of a commit may take in one run; slower ones are refused.")  # fmt: skip
@click.option("--seed", type=int, default=15, show_default=True, help="What the draw depends on.")
@click.option("--update", is_flag=True, help="Draw only from commits that no earlier call has seen.")
@click.option("--bundle", is_flag=True, help="Store base trees with the suite, also of repositories that have a URL.")
@click.option(
    "--rewrite",
    "rewriter",
    metavar="PROVIDER/NAME",
    help="Have a model say each instruction in other words, which are checked as a draft is.",
)
@difficulty_options
@asking_options
@click.option("--plan", "only_plan", is_flag=True, help="Show the plan and the estimate, and run nothing.")
@workers_option
@executor_option
@isolation_option
@json_option
def mine(
    repositories: tuple[str, ...], since: str | None, until: str | None, most: int | None, kinds: str,
    issues: Path | None, rules: Path | None, suite: Path, proofs: int, timeout: float, seed: int, update: bool,
    bundle: bool, mirrors: tuple[str, ...], rewriter: str | None, only_plan: bool, workers: int, executor: str,
    isolation: str, as_json: bool, **asking: Any,
) -> None:  # fmt: skip
    """Make a suite of tasks out of the histories of repositories: folders, git bundles, URLs, or OWNER/NAME.

    Commits that keep to stated rules are drawn, spread over the history. Each is proven as `construct commit` does it:
    its tests run at the base and with the change, in an environment as of its date. What an agent is told comes from
    the issue, the changelog, the pull request or the message, in this order, holds no line of the solution, and names
    everything new that the tests use. With --rewrite a model says it in other words; words that hold a line of the
    solution, or lack what the tests need, are dropped for the draft. mine.jsonl in the suite has one line a commit,
    with the reason where it is no task. Ctrl-C keeps what is done; the same call goes on.

    \b
    Examples:
      repoassay mine . --max 20
      repoassay mine OWNER/NAME --since 2024-01-01 --issues issues.json --kind edit,pull-request --out private
      repoassay mine . --update --out private --rewrite openai/gpt-4.1-mini --budget-usd 1
      repoassay mine . --max 200 --executor ray://10.0.0.1:6379
      repoassay mine . --max 200 --executor slurm://16
    """
    from repoassay.construct import (
        InstructionRewriter,
        MiningRequest,
        begin_suite,
        mine_histories,
        read_issues,
        read_mining_rules,
    )
    from repoassay.errors import BadInput
    from repoassay.formats import read_mirrors
    from repoassay.sandbox import Cache, open_sandbox

    request = MiningRequest(
        since=_day(since, "--since"), until=_day(until, "--until"), most=most, kinds=_kinds(kinds),
        rules=read_mining_rules(rules), issues=read_issues(issues), proofs=proofs, bundle=bundle, seed=seed,
        update=update, mirrors=read_mirrors(mirrors), most_seconds=timeout,
    )  # fmt: skip
    check_difficulty(asking)
    if executor != "local" and rewriter:
        raise BadInput(
            "Nodes cannot mine with --rewrite, whose model only this machine asks.", "Leave it out, or --executor."
        )
    cache = Cache()
    sandbox = open_sandbox(isolation, cache)
    cancel = threading.Event()

    def agree(plan: MiningPlan) -> bool:
        if not as_json or not only_plan:
            _say_plan(plan, workers)
        return not only_plan

    spent = Decimal(0)
    with interrupt_sets(cancel, "What is done is kept; the same call goes on."), contextlib.ExitStack() as stack:
        client = None
        if rewriter and not only_plan:
            begin_suite(suite)
            client = stack.enter_context(open_asked_model(rewriter, asking, suite / CALLS, "mine"))
            request = replace(request, rewrite=InstructionRewriter(rewriter, client))
        report = mine_histories(
            repositories, suite, cache, sandbox, request, workers=node_workers(executor, workers), executor=executor,
            agree=agree, on_row=_say_row, cancel=cancel, heartbeat=_say_what,
        )  # fmt: skip
        if client is not None:
            spent = client.close().dollars_known
        if as_json:
            print_document(_as_object(report))
        elif not only_plan:
            _say_report(report)
    if asking["difficulty"] and not only_plan:
        measure_difficulty(suite, asking, spent_dollars=spent, workers=workers, isolation=isolation)


def _day(text: str | None, option: str) -> str | None:
    import datetime

    from repoassay.errors import BadInput
    from repoassay.text import quote

    if text is None:
        return None
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise BadInput(f"{quote(text)} is no day.", f"Write {option} as 2024-01-31.") from error


def _kinds(text: str) -> tuple[str, ...]:
    from repoassay.errors import BadInput
    from repoassay.text import quote

    named = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if strange := [part for part in named if part not in KINDS]:
        raise BadInput(f"{quote(strange[0])} is no kind of task that can be mined.", "Give edit, pull-request or both.")
    return named


def _say_plan(plan: MiningPlan, workers: int) -> None:
    for each in plan.repositories:
        click.echo(
            f"{each.name}: {each.commits} commits, {each.kept} keep to the rules, {each.tried} tried before,"
            f" {len(each.waiting)} to try",
            err=True,
        )
    click.echo(
        f"Plan: {plan.size} commits, about {plan.seconds / 60:.0f} minutes with {workers} at a time,"
        f" about {plan.tasks} tasks.",
        err=True,
    )


def _say_row(row: MinedCommit) -> None:
    from repoassay.construct import CommitStatus
    from repoassay.text import printable

    mark = "✓" if row.status is CommitStatus.TASK else "!" if row.status is CommitStatus.FAULT else "✗"
    what = row.task if row.status is CommitStatus.TASK else f"{row.cause}: {printable(row.reason, 160)}"
    click.echo(f"{mark} {row.repository} {row.commit[:10]} {row.seconds:.0f} s  {what}", err=True)
    sys.stderr.flush()


def _say_what(what: str) -> None:
    from repoassay.text import printable

    click.echo(f"  at work: {printable(what, 300)}", err=True)


def _say_report(report: MiningReport) -> None:
    from repoassay.construct import refusals

    tried = len(report.tried)
    rate = f", {tried * 3600 / report.cpu_seconds:.0f} commits a CPU hour" if tried and report.cpu_seconds >= 1 else ""
    click.echo(
        f"{len(report.tasks)} tasks of {tried} commits tried in {report.wall_seconds:.0f} s"
        f" ({report.cpu_seconds:.0f} CPU seconds{rate})."
    )
    for cause, count in refusals(report.tried).items():
        click.echo(f"  refused, {cause}: {count}")
    click.echo(f"The suite is {report.suite}; its README says how it was made.")


def _as_object(report: MiningReport) -> dict[str, object]:
    from repoassay.construct import refusals

    return {
        "suite": str(report.suite),
        "plan": {
            "repositories": [
                {"name": each.name, "commits": each.commits, "kept": each.kept, "tried_before": each.tried,
                 "waiting": len(each.waiting)} for each in report.plan.repositories
            ],
            "commits": report.plan.size,
            "seconds": round(report.plan.seconds),
            "tasks": report.plan.tasks,
        },
        "tried": len(report.tried),
        "tasks": [row.task for row in report.tasks],
        "refused": dict(refusals(report.tried)),
        "cpu_seconds": round(report.cpu_seconds, 1),
        "wall_seconds": round(report.wall_seconds, 1),
        "stopped": report.stopped,
    }  # fmt: skip
