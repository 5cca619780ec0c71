"""Sandboxes: isolated places where hostile code runs, and the programs that set them up. Starts processes.

Knows types, and the sandboxes that plug-ins bring; not tasks, nor what is run in a sandbox or why. The launcher, which
starts with every sandbox, passes through here, so that names are imported on demand.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.sandbox.bounded_server import BoundedServer as BoundedServer
    from repoassay.sandbox.cache import (
        SANDBOX_UID as SANDBOX_UID,
        Cache as Cache,
        EntryShare as EntryShare,
        check_limit as check_limit,
        lock_limit as lock_limit,
        remove_tree as remove_tree,
        scratch_beside as scratch_beside,
        settle as settle,
    )
    from repoassay.sandbox.cancellable import CancellableSandbox as CancellableSandbox
    from repoassay.sandbox.capabilities import (
        SandboxCapabilities as SandboxCapabilities,
        capabilities_of as capabilities_of,
    )
    from repoassay.sandbox.cgroups import usable_cores as usable_cores
    from repoassay.sandbox.launcher.collect import is_kept_name as is_kept_name
    from repoassay.sandbox.network import network_of as network_of, permitted_hosts as permitted_hosts
    from repoassay.sandbox.path_filter import compile_path_filter as compile_path_filter, path_calls as path_calls
    from repoassay.sandbox.port_forward import open_door as open_door
    from repoassay.sandbox.prefork_pool import WARM_ENV as WARM_ENV, WarmJob as WarmJob, WarmParent as WarmParent
    from repoassay.sandbox.probe import HostFinding as HostFinding, examine as examine
    from repoassay.sandbox.programs import (
        git_program as git_program,
        node_program as node_program,
        uv_program as uv_program,
    )
    from repoassay.sandbox.protocol import (
        Access as Access,
        Command as Command,
        Completed as Completed,
        ExportSpec as ExportSpec,
        Mount as Mount,
        PortForward as PortForward,
        Sandbox as Sandbox,
        SandboxNetwork as SandboxNetwork,
        SandboxSession as SandboxSession,
        SandboxSetup as SandboxSetup,
    )
    from repoassay.sandbox.remote.server import (
        HolderShares as HolderShares,
        SandboxHost as SandboxHost,
        SandboxServer as SandboxServer,
    )
    from repoassay.sandbox.sandbox import (
        ISOLATIONS as ISOLATIONS,
        SAFE_ISOLATIONS as SAFE_ISOLATIONS,
        can_attest as can_attest,
        can_judge as can_judge,
        is_isolation as is_isolation,
        open_sandbox as open_sandbox,
    )
    from repoassay.sandbox.scratch import make_temporary as make_temporary, temporary_folder as temporary_folder
    from repoassay.sandbox.shown_environment import (
        ImageEnvironment as ImageEnvironment,
        image_environment as image_environment,
    )
    from repoassay.sandbox.task_images import (
        FoundImage as FoundImage,
        TaskImageSandbox as TaskImageSandbox,
        refuse_task_images as refuse_task_images,
    )
    from repoassay.sandbox.trees import read_tree as read_tree, write_tree as write_tree
else:
    __getattr__, __dir__ = attach(__name__)
