"""The solver that leaves what our agent of the same name leaves: by default each task's own solution."""

from __future__ import annotations

from anyio import to_thread
from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from repoassay.agents import AsksModel, find_agent
from repoassay.errors import BadInput
from repoassay.integrations.inspect_extension.sample_sandbox import RepoAssaySandbox

__all__ = ["reference_solver"]


@solver(name="reference")
def reference_solver(agent: str = "reference") -> Solver:
    """Have one of our agents that ask no model make the attempt, in a sandbox of its own.

    Nothing of a solution comes into the sandbox that a model works in.

    Args:
        agent: Its name, such as `reference`, `nothing`, `copycat`.

    Raises:
        BadInput: There is no such agent, or it asks a model.
    """
    worker = find_agent(agent, {})
    if isinstance(worker, AsksModel):
        raise BadInput(f"The agent {agent} asks a model.", "Use a solver of Inspect, and its --model.")

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        sample = sandbox().as_type(RepoAssaySandbox).sample
        await to_thread.run_sync(sample.let_work, worker)
        state.output = ModelOutput.from_content(f"repoassay/{agent}", f"The agent {agent} made the attempt.")
        return state

    return solve
