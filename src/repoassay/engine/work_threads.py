"""Threads that work until nothing is left, while the main thread listens for Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Callable

from repoassay.engine.stop import Stop
from repoassay.errors import Terminated

__all__ = ["serve_all"]


def serve_all(serve: Callable[[], None], workers: Callable[[], int], stop: Stop) -> None:
    """Run workers until all have ended, turning each Ctrl-C into a request to stop; more of them when there may be.

    Another thread starts and joins them. `Thread.start` may wait long on a busy machine, while the first attempts run
    already, and a KeyboardInterrupt within it would leave them unstopped; `Thread.join` takes a thread for dead when a
    KeyboardInterrupt ends it (bpo-45274).
    """
    over = threading.Event()

    def whole() -> None:
        threads: list[threading.Thread] = []
        try:
            while not threads or any(thread.is_alive() for thread in threads):
                while len(threads) < workers() and not (threads and stop.starting.is_set()):
                    threads.append(threading.Thread(target=serve, name=f"worker-{len(threads)}"))
                    threads[-1].start()
                next((thread for thread in threads if thread.is_alive()), threads[0]).join(0.5)
        finally:
            over.set()

    crew = threading.Thread(target=whole, name="workers")
    begun = False
    while not over.is_set():
        try:
            if not begun:
                begun = True
                crew.start()
            while not over.wait(0.2):
                if crew.ident is None and stop.starting.is_set():
                    return  # interrupted before there was a thread; one that comes late finds nothing to do
        except Terminated:
            stop.drop()
        except KeyboardInterrupt:
            stop.interrupt()
