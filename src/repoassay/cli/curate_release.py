"""`repoassay curate audit`, `release`, `check` and `link`: a suite renewed by quarter."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.curate_options import curate_model_options, curation_bench, curation_day, open_asker, step_printer
from repoassay.completion import complete_suites
from repoassay.json_output import print_document
from repoassay.options import PATH, FiniteRange, isolation_option, json_option

if TYPE_CHECKING:
    from repoassay.curate import ScoredAttempt

__all__ = ["curate_audit", "curate_check", "curate_link", "curate_release"]


@click.command("audit")
@click.argument("suite", metavar="SUITE", shell_complete=complete_suites)
@click.option("--quarter", required=True, metavar="YEARQn", help="Whose audit, such as 2026Q4.")
@click.option("--runs", multiple=True, type=PATH, metavar="RUN", help="Run folder, for saturation; may be repeated.")
@click.option("--dumps", multiple=True, type=PATH, metavar="PATH", help="File or folder to look for the canary in.")
@click.option("--current", type=PATH, metavar="POOL", help="Today's pool of the repositories, for their licences.")
@click.option("--install", "reinstall", is_flag=True, help="Install each task as of today and run its solution.")
@curate_model_options
@isolation_option
@json_option
def curate_audit(
    suite: str, quarter: str, runs: tuple[Path, ...], dumps: tuple[Path, ...], current: Path | None, reinstall: bool,
    isolation: str, as_json: bool, **model: Any,
) -> None:  # fmt: skip
    """Look at a suite for contamination, saturation and rot, and say what was not probed.

    With --model each task is asked for without its repository, and its instruction for word by word. Writes
    SUITE/audits/QUARTER.toml. Leaves with 1 when something is not sound.

    \b
    Examples:
      repoassay curate audit release-2026Q4 --quarter 2027Q1 --install
      repoassay curate audit release-2026Q4 --quarter 2027Q1 --model openai/gpt-4.1 --budget-usd 2 --dumps crawl/
    """
    from repoassay.curate import audit_suite
    from repoassay.grading import names
    from repoassay.tasks import find_suite
    from repoassay.text import printable

    found = find_suite(suite, metrics=names())
    cache, sandbox = curation_bench(isolation)
    with contextlib.ExitStack() as stack:
        journal = found.path / "audits" / f"{quarter}-calls.jsonl"
        journal.parent.mkdir(exist_ok=True)
        ask = stack.enter_context(open_asker(model, journal, "curate-audit")) if model["model"] else None
        findings, path = audit_suite(
            found, quarter, cache, sandbox, ask=ask, attempts=scored_attempts(runs, by_setting=False), dumps=dumps,
            current=current,
            reinstall=reinstall, step=step_printer(as_json, "audit"),
        )  # fmt: skip
    if as_json:
        print_document({"evidence": str(path), "findings": [
            {"task": each.task, "probe": each.probe, "sound": each.sound, "why": each.why} for each in findings
        ]})  # fmt: skip
    else:
        for each in findings:
            mark = "?" if each.sound is None else "✓" if each.sound else "✗"
            click.echo(f"{mark} {each.task or '(suite)':<28} {each.probe:<20} {printable(each.why, 300)}")
    sys.exit(1 if any(each.sound is False for each in findings) else 0)


def scored_attempts(runs: tuple[Path, ...], *, by_setting: bool = True) -> list[ScoredAttempt]:
    """Attempts of run folders whose result is known; an agent with other limits is another system, or the same one."""
    from repoassay.curate import ScoredAttempt
    from repoassay.engine import locate
    from repoassay.report import read_rows

    rows = read_rows([locate(run) for run in runs]) if runs else []
    return [
        ScoredAttempt(row.agent if by_setting else f"{row.framework} @ {row.model}", row.task, row.result)
        for row in rows if row.result is not None
    ]  # fmt: skip


@click.command("release")
@click.argument("suite", metavar="SUITE", shell_complete=complete_suites)
@click.option("--quarter", required=True, metavar="YEARQn", help="Such as 2026Q4.")
@click.option("--out", "folder", type=PATH, required=True, metavar="DIR", help="The release; must not exist.")
@click.option("--before", type=PATH, metavar="RELEASE", help="The release of the quarter before.")
@click.option("--retire", multiple=True, metavar="TASK=WHY", help="Retire a task of it; may be repeated.")
@click.option("--anchors", type=click.IntRange(0, 1000), default=10, show_default=True, metavar="N",
              help="Kept tasks that link the quarters' scores, at most.")  # fmt: skip
@click.option("--private-share", type=FiniteRange(0, 1), default=0.0, show_default=True, metavar="SHARE",
              help="Share of added tasks that go into DIR-private; the release holds their digests.")  # fmt: skip
@click.option("--private-before", type=PATH, metavar="DIR",
              help="Private bundle of the quarter before, whose tasks stay private.")  # fmt: skip
@click.option("--key", type=PATH, metavar="FILE", help="Private key of ssh-keygen that signs the digest.")
@click.option("--today", metavar="DAY", help="The day of release, YYYY-MM-DD.  [default: today]")
@json_option
def curate_release(
    suite: str, quarter: str, folder: Path, before: Path | None, retire: tuple[str, ...], anchors: int,
    private_share: float, private_before: Path | None, key: Path | None, today: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Release a quarter: proven tasks of SUITE, those of the quarter before, a manifest, changes, a signed digest.

    Tasks of the quarter before stay as they are; a retired one stays readable with `status`, `since` and `why`, and is
    left out of runs. What is not proven is left out, and said. With --private-share some of the added tasks are held
    back in a bundle beside it, an ordinary suite, so that no model can be trained on them.

    \b
    Examples:
      repoassay curate release suite --quarter 2026Q4 --out release-2026Q4 --key ~/.ssh/id_ed25519
      repoassay curate release suite --quarter 2027Q1 --before release-2026Q4 --retire 'srt-tidy=solved by all'
          --out release-2027Q1
    """
    from repoassay.curate import release_suite
    from repoassay.errors import BadInput
    from repoassay.grading import names
    from repoassay.tasks import find_suite
    from repoassay.text import printable, quote

    gone = dict(each.partition("=")[::2] for each in retire)
    for name, why in gone.items():
        if not why.strip():
            raise BadInput(f"Nothing says why {quote(name)} is retired.", "Write --retire TASK=WHY.")
    new = release_suite(
        find_suite(suite, metrics=names()), folder, quarter, today=curation_day(today), previous=before,
        retirements=gone, anchors=anchors, key=key, private_share=private_share, private_before=private_before,
    )  # fmt: skip
    if as_json:
        print_document({
            "folder": str(new.path), "quarter": new.quarter, "digest": new.digest, "added": new.added,
            "kept": new.kept, "retired": dict(new.retired), "anchors": new.anchors, "left_out": dict(new.left_out),
            "signature": str(new.signature) if new.signature else None, "private": new.private,
            "private_folder": str(new.private_path) if new.private_path else None,
        })  # fmt: skip
        return
    click.echo(f"{new.path}: {len(new.added)} added, {len(new.kept)} kept, {len(new.retired)} retired; {new.digest}")
    if new.private_path:
        click.echo(f"{new.private_path}: {len(new.private)} private tasks; keep it to yourself.")
    for name, why in new.left_out.items():
        click.echo(f"  left out {name}: {printable(why, 300)}")
    click.echo(f"signature: {new.signature}" if new.signature else "Not signed: no --key was given.")


@click.command("check")
@click.argument("release", type=PATH, metavar="RELEASE")
@click.option("--private", "bundle", type=PATH, metavar="DIR", help="Its private bundle, held against its digests.")
@click.option("--signers", type=PATH, metavar="FILE", help="Allowed signers: NAME and public key on a line.")
@click.option("--signer", default="", metavar="NAME", help="Who must have signed it.")
@json_option
def curate_check(release: Path, bundle: Path | None, signers: Path | None, signer: str, as_json: bool) -> None:
    """See that a release is as it was made: every file by its sha256, the digest, and with --signers who signed it.

    \b
    Examples:
      repoassay curate check release-2026Q4
      repoassay curate check release-2026Q4 --signers signers.txt --signer me@example.org
    """
    from repoassay.curate import check_release, private_problems, read_release
    from repoassay.text import printable

    problems = check_release(release, signers, signer)
    if bundle is not None:
        problems += [*check_release(bundle), *private_problems(read_release(release), bundle)]
    if as_json:
        print_document({"sound": not problems}, problems)
    else:
        for problem in problems:
            click.echo(printable(problem, 300))
        signed = f", signed by {printable(signer, 100)}" if signers else ""
        if not problems:
            click.echo(f"{release} is as it was released{signed}.")
    sys.exit(1 if problems else 0)


@click.command("link")
@click.argument("release", type=PATH, metavar="RELEASE")
@click.option(
    "--runs-before", multiple=True, required=True, type=PATH, metavar="RUN", help="Runs of the quarter before."
)
@click.option("--runs", multiple=True, required=True, type=PATH, metavar="RUN", help="Runs of this quarter.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@json_option
def curate_link(release: Path, runs_before: tuple[Path, ...], runs: tuple[Path, ...], seed: int, as_json: bool) -> None:
    """Put scores of RELEASE on the scale of the quarter before, by the anchor tasks that both have.

    linked = S2 + (S1 - A1) - (S2' - A2'): S is the mean result over a quarter's tasks, A over the anchors; 1 and 2 are
    the quarters' systems on average, S2 the system's own. The interval is a bootstrap over tasks.

    \b
    Examples:
      repoassay curate link release-2027Q1 --runs-before runs/q4 --runs runs/q1
    """
    from repoassay.curate import link_scores, read_release
    from repoassay.text import printable

    anchors = [str(each) for each in read_release(release)["anchors"]]
    found = link_scores(scored_attempts(runs_before), scored_attempts(runs), anchors, seed=seed)
    if as_json:
        print_document([
            {"system": each.system, "score": each.score, "shift": each.shift, "linked": each.linked,
             "interval": [each.low, each.high], "anchors": each.anchors, "tasks": each.tasks} for each in found
        ])  # fmt: skip
        return
    for each in found:
        click.echo(
            f"{printable(each.system, 80)}: {each.score:.1%} here, {each.linked:.1%} [{each.low:.1%}, {each.high:.1%}]"
            f" on the scale of the quarter before ({each.anchors} anchor tasks, shift {each.shift:+.1%})"
        )
