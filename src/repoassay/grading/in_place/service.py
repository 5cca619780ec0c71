"""Serves httpbin on the sandbox's loopback, for tests that would ask the public one.

Started beside the tests with the service's own interpreter. Arguments: a descriptor, and names of the sandbox's own
loopback. Where these lead there and low ports can be had, it answers under them as the public one does, at ports 80 and
443, with a certificate that was made when the environment was built; else at a free port. Once it listens it writes the
tests' variables to the descriptor, as JSON.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import ssl
import sys
import threading
from typing import Any

TLS = "/env/services/httpbin/tls"
"""As `python -m trustme` leaves it: `client.pem` is the authority's certificate."""
LOOPBACK = "127.0.0.1"


def listen_on(port: int) -> socket.socket:
    """A socket that listens at a port of the loopback; raises OSError where it cannot be had."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((LOOPBACK, port))
    listener.listen(128)
    return listener


def public_sockets(names: list[str]) -> list[socket.socket]:
    """The sockets of plain and encrypted HTTP; none where the names cannot be answered for."""
    try:
        if names and os.path.exists(TLS) and {socket.gethostbyname(name) for name in names} == {LOOPBACK}:
            return [listen_on(80), listen_on(443)]
    except OSError:
        pass  # nobody says that low ports are to be had
    return []


def main() -> None:
    """Serve until the sandbox ends."""
    from httpbin import app  # type: ignore[import-not-found,unused-ignore]
    from werkzeug.serving import make_server  # type: ignore[import-not-found,unused-ignore]

    ready, *names = sys.argv[1:]
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    sockets = public_sockets(names)
    if sockets:
        bundle = f"{TLS}/client.pem"
        variables = {"HTTPBIN_URL": f"http://{names[0]}/", "SSL_CERT_FILE": bundle, "REQUESTS_CA_BUNDLE": bundle,
                     "CURL_CA_BUNDLE": bundle}  # fmt: skip
    else:
        sockets = [listen_on(0)]
        variables = {"HTTPBIN_URL": f"http://{LOOPBACK}:{sockets[0].getsockname()[1]}/"}
    threads = []
    for listener in sockets:
        port = listener.getsockname()[1]
        options: dict[str, Any] = {"fd": listener.fileno(), "threaded": True}
        if port == 443:
            options["ssl_context"] = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            options["ssl_context"].load_cert_chain(f"{TLS}/server.pem", f"{TLS}/server.key")
        server = make_server(LOOPBACK, port, app, **options)
        threads.append(threading.Thread(target=server.serve_forever))
    for thread in threads:
        thread.start()
    with open(int(ready), "w") as stream:
        json.dump(variables, stream)


if __name__ == "__main__":
    main()
