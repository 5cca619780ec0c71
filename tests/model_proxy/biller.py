"""An upstream that bills as vendors do: it works on whether or not anybody listens, to the limit it was given."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["A_FILE", "UNASKED", "Biller"]

UNASKED = 20_000
"""Tokens it writes when no limit is given."""
A_FILE = 200_000
"""Tokens that a file comes to, however small."""
_PIECE = 100


class Biller:
    """Speaks chat completions on loopback. `billed`: tokens read and written; `bodies`: what it was asked.

    What a file it is shown comes to is `A_FILE`; `told` is what it says of its usage instead of the truth, `extra` what
    it says besides, `status` what it answers though it worked.
    `gate` is waited for after the first piece of each stream; `most` is the largest limit it takes.
    """

    def __init__(self, most: int = 1 << 30, told: dict[str, Any] | None = None) -> None:
        self.billed = 0
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.at_once = self.most_at_once = 0
        self.most = most
        self.told = told
        self.extra: dict[str, Any] = {}
        self.status = 200
        self.gate = threading.Event()
        self.gate.set()
        self._lock = threading.Lock()
        biller = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                biller.answer(self)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> Biller:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.gate.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer and bill one request."""
        size = int(request.headers["Content-Length"])
        body = json.loads(request.rfile.read(size))
        limit = body.get("max_tokens")
        if limit is not None and limit > self.most:
            self._send(request, 400, b'{"error": {"message": "max_tokens is too large"}}')
            return
        written = min(UNASKED, limit or UNASKED) * body.get("n", 1)
        files = sum(name in json.dumps(body) for name in ("application/pdf", "file-1"))
        prompt = size // 4 + files * A_FILE
        with self._lock:
            self.bodies.append(body)
            self.headers.append({name.lower(): value for name, value in request.headers.items()})
            self.billed += prompt + written
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.status != 200:
                self._send(request, self.status, b"{}")
                return
            usage = {"prompt_tokens": prompt, "completion_tokens": written}
            self._speak(request, body, written, usage if self.told is None else self.told)
        finally:
            with self._lock:
                self.at_once -= 1

    def _speak(
        self, request: BaseHTTPRequestHandler, body: dict[str, Any], written: int, usage: dict[str, Any]
    ) -> None:
        if not body.get("stream"):
            self.gate.wait(30)
            text = {"message": {"content": "word " * (written if self.told is not None else 0)}}
            self._send(request, 200, json.dumps({"choices": [text], "usage": usage, **self.extra}).encode())
            return
        events = [{"choices": [{"delta": {"content": "word " * _PIECE}}]}] * (written // _PIECE + 1)
        with suppress(OSError):
            request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            for number, event in enumerate([*events, {"choices": [], "usage": usage}]):
                request.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
                if number == 0:
                    self.gate.wait(30)
            request.wfile.write(b"data: [DONE]\n\n")

    @staticmethod
    def _send(request: BaseHTTPRequestHandler, status: int, data: bytes) -> None:
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)
