"""The submission environment as an HTTP service, and the review application in `server/review`.

The service is a durable queue, workers that judge, and the routes in front: read `queue.py` for what is promised,
`workers.py` for how it is kept. `viewing.py` shows runs to one reader, and needs no extra. Knows the engine, reports
and review; must not know what a terminal shows. The service needs the extra `serve`, which is imported only by the
files that answer its requests and keep the queue.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.server.access import (
        RateLimit as RateLimit,
        Tokens as Tokens,
        check_bind as check_bind,
        is_loopback as is_loopback,
        parse_rate as parse_rate,
        read_tokens as read_tokens,
    )
    from repoassay.server.listening import listen as listen
    from repoassay.server.logs import configure_logs as configure_logs
    from repoassay.server.places import WorkerSettings as WorkerSettings
    from repoassay.server.queue import Queue as Queue, open_queue_database as open_queue_database
    from repoassay.server.review.app import mount_review as mount_review
    from repoassay.server.review.changed_files import file_versions as file_versions
    from repoassay.server.review.serving import (
        address_of as address_of,
        blobs_beside as blobs_beside,
        hosts_for as hosts_for,
        open_desk as open_desk,
        serve_review as serve_review,
    )
    from repoassay.server.server import run as run
    from repoassay.server.service import Guards as Guards, Service as Service
    from repoassay.server.tracing import open_tracing as open_tracing
    from repoassay.server.viewing import serve_view as serve_view
else:
    __getattr__, __dir__ = attach(__name__)
