"""Running the review application: where it keeps things, and a server that ends well."""

from __future__ import annotations

import secrets
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio.to_thread
import uvicorn

from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.review import BUNDLED, open_database, read_rubric
from repoassay.server.access import is_loopback
from repoassay.server.connection import Connection, most_connections
from repoassay.server.review.app import build_review
from repoassay.server.review.blobs import Blobs
from repoassay.server.review.oidc import IdentityProvider, read_oidc_settings
from repoassay.server.review.review_state import ReviewState
from repoassay.tasks import data_folder

__all__ = ["address_of", "blobs_beside", "hosts_for", "open_desk", "serve_review", "settings_for"]

_DRAIN = 5
_THREADS = 8
_SWITCH = 0.0005


def open_desk(
    database: str,
    runs: Sequence[Path] = (),
    rubrics: Sequence[str] = (),
    hosts: frozenset[str] = frozenset(),
    *,
    secure: bool = False,
    oidc: Path | None = None,
) -> tuple[ReviewState, str]:
    """Open what the application works with, and make the owner's token for this start.

    Args:
        database: URL of PostgreSQL, or path of an SQLite file; empty for one in the data folder.
        runs: Run folders that studies may be made of.
        rubrics: Files of rubrics to offer beside the bundled ones.
        hosts: Host names that requests may use; empty for any.
        secure: Whether cookies are for HTTPS alone.
        oidc: Settings of an identity provider that says who came with an invitation.

    Returns:
        The review's state, and the owner's token, which is kept nowhere.

    Raises:
        BadInput: When a run, a rubric or the database cannot be used.
    """
    provider = IdentityProvider(*read_oidc_settings(oidc)) if oidc is not None else None
    for rubric in rubrics:
        read_rubric(rubric)
    for run in runs:
        _ = RunFolder(run).plan
    place = database or str(data_folder("review") / "reviews.sqlite")
    token = secrets.token_urlsafe(32)
    desk = ReviewState(
        open_database(place), blobs_beside(place), owner=token, runs=[run.resolve() for run in runs],
        rubrics=(*BUNDLED, *rubrics), hosts=hosts, secure=secure, provider=provider,
    )  # fmt: skip
    return desk, token


def blobs_beside(database: str) -> Blobs:
    """The files of a review database: in a folder beside it, or in the data folder for one on a server."""
    remote = "://" in database and not database.startswith("sqlite:")
    local = Path(database.removeprefix("sqlite:///"))
    return Blobs(data_folder("review") / "files" if remote else local.with_name(f"{local.name}.files"))


def hosts_for(host: str, allowed: Sequence[str]) -> frozenset[str]:
    """Host names that requests may use: those of this machine, and those given.

    Raises:
        BadInput: When the address is reachable from elsewhere and no name is given.
    """
    if not is_loopback(host) and not allowed:
        raise BadInput(
            f"{host} can be reached from elsewhere, and no name is given that raters use.",
            "Name it with --allow-host, and put a proxy with HTTPS before it.",
        )
    own = {"127.0.0.1", "localhost", "[::1]"} if is_loopback(host) else set()
    return frozenset({*own, *(name.lower() for name in allowed)})


def address_of(host: str, bound: socket.socket) -> str:
    """The address that a bound socket is reached at."""
    return f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}"


def settings_for(desk: ReviewState) -> uvicorn.Config:
    """How uvicorn is to serve: plain HTTP/1.1, bounded in everything."""
    return uvicorn.Config(
        build_review(desk), http=Connection, ws="none", lifespan="off", log_level="error", access_log=False,
        server_header=False, limit_concurrency=most_connections(), timeout_graceful_shutdown=_DRAIN,
        proxy_headers=False,
    )  # fmt: skip


def serve_review(desk: ReviewState, bound: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or Ctrl-C, and close the database."""
    server = _Server(settings_for(desk), ready)
    try:
        server.run([bound])
    except KeyboardInterrupt:  # uvicorn raises the signal again once it has ended well
        pass
    finally:
        desk.previews.close()
        desk.database.close()


class _Server(uvicorn.Server):
    """Uvicorn's server, but that it says when it answers, and ends at a signal instead of dying of it."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        # A transaction gives up the interpreter at every statement. With many threads, each willing to hold it for the
        # five milliseconds that are usual, the one that writes would wait for them again and again, and all for it.
        anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
        sys.setswitchinterval(_SWITCH)
        await super().startup(sockets)
        self._ready()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve; a signal is not passed on afterwards, so that what follows still happens."""
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            super().run(sockets)
        finally:
            signal.signal(signal.SIGTERM, before)
