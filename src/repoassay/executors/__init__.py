"""Executors: where work is done, on this machine or on the nodes of a cluster. A job is a record, and so is its answer.

Read `protocol.py` for the seam and `local.py` for its smallest form; `ray_cluster.py` is Ray's. Knows records, the
cache that nodes share entries of, and the executors that plug-ins bring; not what a job does: that is a `NodeWork`,
which the room that has the work names by its dotted path.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.executors.local import LocalExecutor as LocalExecutor
    from repoassay.executors.opening import find_executor as find_executor, is_executor as is_executor
    from repoassay.executors.parcels import (
        CacheParcel as CacheParcel,
        pack_files as pack_files,
        pack_tree as pack_tree,
        unpack_files as unpack_files,
    )
    from repoassay.executors.protocol import (
        Cluster as Cluster,
        Executor as Executor,
        NodeJob as NodeJob,
        NodeLost as NodeLost,
        NodePlace as NodePlace,
        NodeSetup as NodeSetup,
        NodeWork as NodeWork,
    )
    from repoassay.executors.resubmission import (
        MOST_LOSSES as MOST_LOSSES,
        answers_in_order as answers_in_order,
        submit_again as submit_again,
    )
else:
    __getattr__, __dir__ = attach(__name__)
