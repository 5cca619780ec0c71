"""Agents: each says which command to run in a task's workspace.

Knows tasks, the workspace and the model proxy; not how submissions are graded, nor where attempts are kept.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.agents.agent_folder import NewAgent as NewAgent, write_agent_folder as write_agent_folder
    from repoassay.agents.content import content_digest as content_digest
    from repoassay.agents.exit_status import (
        HERE as HERE,
        QUICK as QUICK,
        StartFailure as StartFailure,
        exit_meaning as exit_meaning,
        last_lines as last_lines,
        start_failure as start_failure,
    )
    from repoassay.agents.find import (
        agent_file as agent_file,
        agent_kind as agent_kind,
        agent_titles as agent_titles,
        find_agent as find_agent,
        find_modelled as find_modelled,
        is_own as is_own,
    )
    from repoassay.agents.function import (
        CommandMaker as CommandMaker,
        FunctionAgent as FunctionAgent,
        adapt_agent as adapt_agent,
        check_source as check_source,
        import_agent as import_agent,
        python_kind as python_kind,
        source_digest as source_digest,
    )
    from repoassay.agents.install import availability as availability, obtain as obtain
    from repoassay.agents.model_agent import ModelledAgent as ModelledAgent, needs_network as needs_network
    from repoassay.agents.plugin_agent import PluginAgent as PluginAgent
    from repoassay.agents.prompting import render_prompt as render_prompt
    from repoassay.agents.protocol import (
        AccessPoint as AccessPoint,
        Agent as Agent,
        AsksModel as AsksModel,
        PlacedAgent as PlacedAgent,
        in_workspace as in_workspace,
    )
    from repoassay.agents.session import CommandResult as CommandResult, WorkspaceSession as WorkspaceSession
    from repoassay.agents.spec import AgentSpec as AgentSpec, builtin_specs as builtin_specs, read_spec as read_spec
    from repoassay.agents.start_proof import lacks as lacks
    from repoassay.agents.transcripts import read_transcript as read_transcript
    from repoassay.agents.transcripts.building import moment as moment
    from repoassay.agents.transcripts.eval_file import EvalFile as EvalFile
    from repoassay.agents.transcripts.files import mapping as mapping
    from repoassay.agents.transcripts.inspect import UNTIMED as UNTIMED
    from repoassay.agents.transcripts.search_replace import search_replace_calls as search_replace_calls
else:
    __getattr__, __dir__ = attach(__name__)
