"""`repoassay serve`: the submission environment as an HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from repoassay.options import (
    PATH,
    FiniteRange,
    assurance_options,
    executor_option,
    isolation_option,
    node_workers,
    workers_option,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from repoassay.engine import SubmissionEngine
    from repoassay.server import Queue, Service
    from repoassay.tasks import TaskFolder
    from repoassay.types import Feedback

__all__ = ["serve"]


@click.command()
@click.option("--dataset", type=PATH, metavar="FILE", help="Rows of tasks: JSON, JSONL or parquet.")
@click.option("--suite", metavar="SUITE", help="Instead: the edit tasks of a bundled suite or a folder of tasks.")
@click.option("--mirror", "mirrors", multiple=True, metavar="URL=PATH", help="Take this repository from PATH.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option("--role", type=click.Choice(("all", "front", "worker")), default="all", show_default=True,
              help="Of a queue that servers share: only accept and answer (front), or only judge (worker), which "
              "answers /healthz and /metrics alone.")  # fmt: skip
@click.option("--database", "--queue", "database", metavar="URL", envvar="REPOASSAY_DATABASE", show_envvar=True,
              help="Where the queue lies: postgresql://... or a file for SQLite; a file in the data folder when not "
              "given.")  # fmt: skip
@click.option("--token-file", type=PATH, metavar="FILE", help="Bearer tokens let in: one a line, plain or sha256:HEX.")
@click.option("--insecure", is_flag=True, help="Let anybody in who reaches HOST, without tokens.")
@click.option("--max-body", type=click.IntRange(1024, 2**30), default=16 * 2**20, show_default=True, metavar="BYTES",
              help="Largest request.")  # fmt: skip
@click.option("--max-patch", type=click.IntRange(1, 2**30), default=4 * 2**20, show_default=True, metavar="BYTES",
              help="Largest patch.")  # fmt: skip
@click.option("--queue-limit", type=click.IntRange(1, 10**7), default=10_000, show_default=True, metavar="N",
              help="How many submissions may wait.")  # fmt: skip
@click.option("--queue-bytes", type=click.IntRange(2**20, 2**44), default=2 * 2**30, show_default=True, metavar="BYTES",
              help="How much the patches that wait may have.")  # fmt: skip
@click.option("--token-queue", type=click.IntRange(1, 10**7), metavar="N",
              help="How many submissions of each token may wait; an equal share when not given.")  # fmt: skip
@click.option("--token-running", type=click.IntRange(1, 10**5), metavar="N",
              help="How many submissions of each token may be judged at a time; no limit when not given.")  # fmt: skip
@click.option("--token-hour", type=click.IntRange(1, 10**9), metavar="N",
              help="Submissions of each token accepted within an hour; no limit when not given.")  # fmt: skip
@click.option("--token-day", type=click.IntRange(1, 10**9), metavar="N",
              help="Submissions of each token accepted within a day; no limit when not given.")  # fmt: skip
@click.option("--express", type=FiniteRange(0, 3600), default=5.0, show_default=True, metavar="S",
              help="Where there are several tokens: seconds after which the express place, one beside the workers', is "
              "given up to a token that has nothing under way; 0 for no such place.")  # fmt: skip
@click.option("--rate-limit", metavar="N/min", help="Requests a minute of each token; no limit when not given.")
@click.option("--timeout", type=FiniteRange(0, min_open=True), metavar="S",
              help="Seconds a submission's tests may take.")  # fmt: skip
@click.option("--grace", type=FiniteRange(0, 3600), default=30.0, show_default=True, metavar="S",
              help="Seconds that what is under way may take to finish when the server is told to stop.")  # fmt: skip
@click.option("--lease", type=FiniteRange(1, 3600), default=20.0, show_default=True, metavar="S",
              help="Seconds after which servers sharing a queue take over what a killed one was judging.")  # fmt: skip
@click.option("--keep", type=FiniteRange(1, 36500), metavar="DAYS",
              help="Days after which a verdict is deleted, with its patch; kept when not given.")  # fmt: skip
@click.option("--log-format", type=click.Choice(("text", "json")), default="text", show_default=True,
              help="The log: for people, or a JSON object a line with an event for each verdict.")  # fmt: skip
@click.option("--otlp", metavar="URL", help="Send traces of verdicts to this OpenTelemetry collector, over OTLP by "
              "HTTP; as OTEL_EXPORTER_OTLP_ENDPOINT says when not given.")  # fmt: skip
@assurance_options
@click.option("--cache/--no-cache", default=True, show_default=True, help="Whether a known verdict is used again.")
@click.option("--review", is_flag=True, help="Serve the review application too, below /review; see `repoassay review`.")
@click.option(
    "--review-run", "runs", multiple=True, type=PATH, metavar="RUN", help="A run that studies may be made of."
)
@click.option("--review-database", metavar="URL", envvar="REPOASSAY_REVIEW_DATABASE", show_envvar=True,
              help="Where ratings lie.")  # fmt: skip
@click.option("--allow-host", "allowed", multiple=True, metavar="NAME", help="Name raters reach the review by.")
@workers_option
@executor_option
@isolation_option
def serve(
    dataset: Path | None, suite: str | None, mirrors: tuple[str, ...], host: str, port: int, database: str | None,
    token_file: Path | None, insecure: bool, max_body: int, max_patch: int, queue_limit: int, queue_bytes: int,
    token_queue: int | None,
    role: Literal["all", "front", "worker"], token_running: int | None, token_hour: int | None, token_day: int | None,
    express: float, rate_limit: str | None, keep: float | None,
    log_format: Literal["text", "json"], otlp: str | None,
    timeout: float | None, grace: float, lease: float, cache: bool, review: bool, runs: tuple[Path, ...],
    review_database: str | None, allowed: tuple[str, ...], workers: int, executor: str, isolation: str,
    feedback: Feedback,
    require_attested: float,
) -> None:  # fmt: skip
    """Serve the submission environment over HTTP: patches in, verdicts out, from a queue that survives being killed.

    What was answered 202 is on disk and gets exactly one verdict, whatever happens to the server. SIGTERM or Ctrl-C
    stops: what is under way finishes, the rest waits for the next start; a second Ctrl-C gives up what is under way.
    Needs the extra `serve`.

    \b
    Examples:
      repoassay serve --suite starter
      repoassay serve --dataset demo.jsonl --port 9000 --workers 8 --token-file tokens.txt --host 0.0.0.0
      repoassay serve --dataset demo.jsonl --database postgresql://judge@db/queue --rate-limit 600/min
      repoassay serve --suite starter --token-file tokens.txt --token-hour 2000 --express 10
      repoassay serve --suite starter --queue postgresql://judge@db/queue --role front --keep 30
      repoassay serve --suite starter --log-format json --otlp http://127.0.0.1:4318
      repoassay serve --suite starter --queue postgresql://judge@db/queue --role worker --port 0 --workers 16
      repoassay serve --suite starter --token-file tokens.txt --executor ray://10.0.0.1:6379
      repoassay serve --suite starter --token-file tokens.txt --executor slurm://16
    """
    from repoassay.engine import FeedbackLedger
    from repoassay.server import (
        Guards,
        RateLimit,
        Service,
        Tokens,
        WorkerSettings,
        check_bind,
        configure_logs,
        is_loopback,
        listen,
        open_tracing,
        parse_rate,
        read_tokens,
        run,
    )

    configure_logs(log_format)
    click.get_current_context().call_on_close(open_tracing(otlp))
    tokens = read_tokens(token_file) if token_file else Tokens()
    check_bind(host, tokens, insecure=insecure or role == "worker")  # which accepts nothing
    guards = Guards(
        tokens, RateLimit(parse_rate(rate_limit)), max_body, max_patch, queue_limit, token_queue, token_hour, token_day,
        hosts=frozenset() if tokens or not is_loopback(host) else frozenset({"127.0.0.1", "localhost", "[::1]", host}),
        size=queue_bytes,
    )  # fmt: skip
    express = express if len(tokens) > 1 or role == "worker" else 0.0  # a worker cannot know how many tokens there are
    executor = "local" if role == "front" else executor  # which judges nothing
    each = node_workers(executor, workers + bool(express) if executor == "local" else workers)
    terms = {"--feedback": feedback, "--require-attested": f"{require_attested:g}", "--timeout": f"{timeout}"}
    settings = WorkerSettings(lease, token_running, express, role, keep and keep * 86400, terms)
    with _engine(dataset, suite, mirrors, isolation, timeout, each, cache, executor) as engine:
        engine.ledger, engine.required = FeedbackLedger(feedback), require_attested
        queue = _open_queue(database, dataset.stem if dataset else Path(str(suite)).name, engine, role)
        answered = queue.answers()  # by whichever server
        engine.ledger.remember({each.digest: answered.get(name, 0) for name, each in engine.tasks.items()})
        bound = listen(host, port)
        shown = f"[{host}]" if ":" in host else host

        address = f"http://{shown}:{bound.getsockname()[1]}"

        def ready() -> None:
            judges = f"{0 if role == 'front' else workers} workers"
            if executor != "local":
                judges = f"the nodes of {executor}, of which {engine.capacity} workers are ready"
            served = f"Serving {len(engine.tasks)} tasks on {address} with {judges}"
            click.echo(f"{served}; queue: {queue.database.place}", err=True)

        service = Service(queue, engine, guards, settings)
        if review:
            link = _mount_review(service, host, runs, review_database or "", allowed)
            click.echo(f"The review owner's link, for you alone: {address}{link}", err=True)
        left = run(service, bound, grace, ready)
    click.echo("Stopped." + (f" {left} submissions under way were put back." if left else ""), err=True)


def _mount_review(
    service: Service, host: str, runs: tuple[Path, ...], database: str, allowed: tuple[str, ...]
) -> str:  # fmt: skip
    """Put the review application beside the service; returns the path of its owner's link."""
    from repoassay.server import hosts_for, mount_review, open_desk

    desk, token = open_desk(database, runs, (), hosts_for(host, allowed))
    service.more = lambda app: mount_review(app, desk)
    click.get_current_context().call_on_close(desk.previews.close)
    return f"/review/join/{token}"


def _engine(
    dataset: Path | None, suite: str | None, mirrors: tuple[str, ...], isolation: str, timeout: float | None,
    workers: int | None, cache: bool, executor: str,
) -> SubmissionEngine:  # fmt: skip
    from repoassay.engine import GradingContext, SubmissionEngine
    from repoassay.errors import BadInput
    from repoassay.formats import RowSupplies, read_mirrors, usable_tasks
    from repoassay.grading import names
    from repoassay.records import VerdictCache
    from repoassay.sandbox import Cache, open_sandbox
    from repoassay.tasks import find_suite

    store = Cache()
    repositories = None
    tasks: Mapping[str, TaskFolder]
    refused: Mapping[str, str] = {}
    if dataset is not None and suite is None:
        read = usable_tasks(dataset, store.path / "rows", RowSupplies(read_mirrors(mirrors)))
        tasks, refused = read.tasks, read.refused
    elif suite is not None and dataset is None:
        found = find_suite(suite, metrics=names())
        repositories = found.repositories
        tasks = {folder.task.id: folder for folder in found.tasks if folder.task.kind.changes_repository}
    else:
        raise BadInput("Give either --dataset or --suite.", "One of them says which tasks there are.")
    if not tasks:
        raise BadInput(f"{dataset or suite} holds no task that is graded by a patch.", "Choose another.")
    bench = GradingContext(repositories, store, open_sandbox(isolation, store), timeout=timeout)
    known = VerdictCache(store.path / "verdicts.sqlite") if cache else None
    return SubmissionEngine(tasks, bench, workers, known, refused=refused, executor=executor)


def _open_queue(database: str | None, name: str, engine: SubmissionEngine, role: str) -> Queue:
    """Open the queue.

    Raises:
        BadInput: It has submissions that nobody here could ever judge, or cannot be shared as `role` needs.
    """
    from repoassay.errors import BadInput
    from repoassay.server import Queue, open_queue_database
    from repoassay.tasks import data_folder
    from repoassay.text import join_names

    queue = Queue(open_queue_database(database or None, data_folder("serve"), name))
    if role != "all" and queue.database.sole_owner:
        raise BadInput(
            f"--role {role} needs a queue that servers share, and {queue.database.place} is one server's alone.",
            "Give --queue postgresql://USER@HOST/NAME.",
        )
    strange = sorted(queue.tasks() - set(engine.tasks))
    if strange and queue.database.sole_owner:
        raise BadInput(
            f"The queue {queue.database.place} has submissions on tasks that are not served: {join_names(strange, 3)}.",
            "Serve what it was made for, or choose another queue with --database.",
        )
    return queue
