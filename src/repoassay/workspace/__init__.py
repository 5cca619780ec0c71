"""Workspaces: checkouts, environments and prepared tasks in the cache, and what an agent left in one. Starts processes,
jobs of Slurm among them.

Knows tasks, the sandbox and the package proxy that builds use; not who works in a workspace, nor how what they leave is
graded.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.workspace.agent_index import relay_for_agent as relay_for_agent
    from repoassay.workspace.agent_install import (
        AgentInterpreter as AgentInterpreter,
        Installed as Installed,
        Recipe as Recipe,
        find_node as find_node,
        find_python as find_python,
        install_agent as install_agent,
        installed_at as installed_at,
    )
    from repoassay.workspace.build_index.rules import IndexRequest as IndexRequest
    from repoassay.workspace.build_output import manifest_place as manifest_place
    from repoassay.workspace.builds import unreached_hosts as unreached_hosts
    from repoassay.workspace.bytecode import bytecode_of as bytecode_of
    from repoassay.workspace.cache_limits import entries as entries, prune as prune
    from repoassay.workspace.changes import (
        changes_between as changes_between,
        drop_environments as drop_environments,
        links_of as links_of,
    )
    from repoassay.workspace.checkouts import checkout as checkout, commit_tree as commit_tree
    from repoassay.workspace.commits import collect_git as collect_git, read_left as read_left
    from repoassay.workspace.earlier_runs import cover_runs as cover_runs, is_run as is_run
    from repoassay.workspace.git import ATTRIBUTES as ATTRIBUTES, moment_of as moment_of, run_git as run_git
    from repoassay.workspace.image_layout import repository_place as repository_place
    from repoassay.workspace.installed_copies import cover_installed_copies as cover_installed_copies
    from repoassay.workspace.interpreters import (
        how_to_get as how_to_get,
        interpreter_findings as interpreter_findings,
        release_lines as release_lines,
    )
    from repoassay.workspace.node import node_version as node_version
    from repoassay.workspace.preparation import (
        BASE_BRANCH as BASE_BRANCH,
        DESCRIPTION as DESCRIPTION,
        PreparedTask as PreparedTask,
        bare_layout as bare_layout,
        lay_out as lay_out,
        rules_place as rules_place,
    )
    from repoassay.workspace.signature import check_signature as check_signature, sign_file as sign_file
    from repoassay.workspace.slurm import (
        ArrayJob as ArrayJob,
        cancel_jobs as cancel_jobs,
        check_slurm as check_slurm,
        jobs_at_work as jobs_at_work,
        submit_array as submit_array,
        submit_tasks as submit_tasks,
        write_scripts as write_scripts,
    )
    from repoassay.workspace.sources import (
        fetch_commit as fetch_commit,
        fetch_folders as fetch_folders,
        unpack as unpack,
    )
    from repoassay.workspace.state_places import state_mounts as state_mounts
    from repoassay.workspace.step_layout import changes_left as changes_left, step_start as step_start
    from repoassay.workspace.variables import (
        environment_variables as environment_variables,
        test_variables as test_variables,
    )
else:
    __getattr__, __dir__ = attach(__name__)
