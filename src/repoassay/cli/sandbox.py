"""`repoassay sandbox`: sandboxes of this machine for RepoAssay on other ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.options import PATH, FiniteRange
from repoassay.sandbox import usable_cores

if TYPE_CHECKING:
    import ssl

    from repoassay.server import Tokens

__all__ = ["sandbox"]

_SERVED = ("namespaces", "bubblewrap")


@click.group()
def sandbox() -> None:
    """Offer this machine's sandboxes to RepoAssay on other machines.

    \b
    Examples:
      repoassay sandbox serve
      repoassay run starter --agent reference --isolation http@http://127.0.0.1:8700
    """


@sandbox.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8700, show_default=True, help="0 takes a free one.")
@click.option("--token-file", type=PATH, metavar="FILE", help="Bearer tokens let in: one a line, plain or sha256:HEX; "
              "one is made up and printed when not given.")  # fmt: skip
@click.option("--certificate", type=PATH, metavar="FILE", help="Certificate for TLS, PEM; other machines need it.")
@click.option("--key", type=PATH, metavar="FILE", help="Its key, PEM.")
@click.option("--sessions", type=click.IntRange(1, 10_000), default=2 * usable_cores(), show_default=True,
              metavar="N", help="Sandboxes at a time; those who ask for more wait.")  # fmt: skip
@click.option("--keep", type=FiniteRange(0.1, 10_000), default=20.0, show_default=True, metavar="GIB",
              help="Repositories and environments kept for the next session.")  # fmt: skip
@click.option("--token-sessions", type=click.IntRange(1, 10_000), metavar="N",
              help="Sandboxes of one token at a time; an equal share when not given.")  # fmt: skip
@click.option("--session-memory", type=FiniteRange(0.1, 10_000), default=16.0, show_default=True, metavar="GIB",
              help="Memory and disk that one sandbox may ask for in all.")  # fmt: skip
@click.option("--isolation", default="namespaces", show_default=True, type=click.Choice(_SERVED),
              help="The sandboxes that are offered.")  # fmt: skip
def sandbox_serve(
    host: str, port: int, token_file: Path | None, certificate: Path | None, key: Path | None, sessions: int,
    keep: float, token_sessions: int | None, session_memory: float, isolation: str,
) -> None:  # fmt: skip
    """Offer sandboxes of this machine over HTTP: for `--isolation http@URL` elsewhere.

    Whoever holds a token runs code in sandboxes here, without network. Ctrl-C or SIGTERM ends them all.

    \b
    Examples:
      repoassay sandbox serve
      repoassay sandbox serve --port 0 --sessions 8
      repoassay sandbox serve --host 0.0.0.0 --token-file tokens --certificate cert.pem --key key.pem
    """
    from repoassay.errors import BadInput
    from repoassay.sandbox import Cache, HolderShares, SandboxHost, SandboxServer, open_sandbox
    from repoassay.server import is_loopback, listen

    if certificate is None and not is_loopback(host):
        raise BadInput(
            "Tokens and files would be sent in the clear.", "Give --certificate and --key, or listen on 127.0.0.1."
        )
    context = _tls(certificate, key)
    tokens, printed = _tokens(token_file)
    shares = HolderShares(len(tokens), token_sessions, int(session_memory * 2**30))
    kind = open_sandbox(isolation, Cache())
    with SandboxHost(kind, sessions, int(keep * 2**30), shares) as host_of_sandboxes:
        bound = listen(host, port)
        shown = f"[{host}]" if ":" in host else host
        scheme = "http" if context is None else "https"
        click.echo(
            f"Offering {sessions} sandboxes of the kind {isolation}: --isolation http@{scheme}://{shown}:"
            f"{bound.getsockname()[1]}{printed}\nCtrl-C ends it.", err=True,
        )  # fmt: skip
        _serve(SandboxServer(bound, host_of_sandboxes, tokens.holder, context))
    click.echo("Stopped.", err=True)


def _serve(server: object) -> None:
    """Answer until a signal comes."""
    import signal
    import threading

    from repoassay.sandbox import SandboxServer

    assert isinstance(server, SandboxServer)
    over = threading.Event()
    before = {number: signal.signal(number, lambda *_: over.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    thread = threading.Thread(target=server.serve_forever, name="sandbox-server", daemon=True)
    thread.start()
    try:
        over.wait()
    finally:
        server.shutdown()
        server.server_close()
        for number, handler in before.items():
            signal.signal(number, handler)


def _tokens(token_file: Path | None) -> tuple[Tokens, str]:
    """Who is let in, and what to print of a token that was made up."""
    import hashlib
    import secrets

    from repoassay.server import Tokens, read_tokens

    if token_file is not None:
        return read_tokens(token_file), ""
    token = secrets.token_urlsafe(32)
    tokens = Tokens((hashlib.sha256(token.encode()).digest(),))
    return tokens, f"\nfor those who have set REPOASSAY_SANDBOX_TOKEN={token}"


def _tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    import ssl

    from repoassay.errors import BadInput

    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise BadInput("TLS needs a certificate and its key.", "Give both --certificate and --key.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror or str(error)
        raise BadInput(f"The certificate {certificate} and key {key} cannot be used: {reason}.") from None
    return context
