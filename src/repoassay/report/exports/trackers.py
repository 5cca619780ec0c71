"""Runs logged to trackers of experiments, MLflow and Weights & Biases: a run there for each agent of a run here.

Figures, parameters and a table of attempts go there; patches and what was said do not.
"""

from __future__ import annotations

from typing import Any

from repoassay.errors import BadInput, MissingExtra, Unavailable
from repoassay.plugins import reason_of
from repoassay.report.exporters import ExportSource
from repoassay.report.exports.run_figures import COLUMNS, AgentFigures, figures_of_agents
from repoassay.text import quote

__all__ = ["MlflowRuns", "WandbRuns"]

_LOST = ("Patches, tests and trajectories.", "Attempts that were retried: the one that counts is told.")


class MlflowRuns:
    """`--to` is a tracking address: `sqlite:///mlflow.db`, or a server's URL. The experiment has the suite's name."""

    title = "a run logged to MLflow, sent with --to sqlite:///FILE or a server's URL"
    takes = ("run",)
    version = "MLflow 3"
    lost = _LOST

    def send(self, source: ExportSource, destination: str) -> str:
        """Log the agents of a run; one that was logged before is logged again as a run of its own.

        Raises:
            MissingExtra: Without MLflow.
            Unavailable: It did not take them.
        """
        try:
            from mlflow import MlflowClient
            from mlflow.exceptions import MlflowException
        except ImportError:
            raise MissingExtra("mlflow", "trackers") from None
        assert source.run is not None
        agents = list(figures_of_agents(source))
        try:
            client = MlflowClient(tracking_uri=destination)
            name = source.run.plan.suite
            known = client.get_experiment_by_name(name)
            experiment = known.experiment_id if known else client.create_experiment(name)
            for one in agents:
                _log_mlflow(client, experiment, one, source.run.plan.created.timestamp())
        except MlflowException as error:
            raise Unavailable(f"MLflow at {quote(destination)} did not take it: {reason_of(error)}.") from error
        return f"{len(agents)} runs to the experiment {name} of {destination}"


def _log_mlflow(client: Any, experiment: str, one: AgentFigures, created: float) -> None:
    began = int(created * 1000)
    run = client.create_run(experiment, start_time=began, run_name=one.agent, tags={"source": "repoassay"}).info.run_id
    for key, value in one.parameters.items():
        client.log_param(run, _key(key), value[:6000])
    for key, figure in one.metrics.items():
        client.log_metric(run, key, figure)
    columns = {name: [row[number] for row in one.rows] for number, name in enumerate(COLUMNS)}
    client.log_dict(run, {"columns": list(COLUMNS), "data": list(zip(*columns.values(), strict=True))}, "attempts.json")
    client.set_terminated(run)


def _key(name: str) -> str:
    """A parameter's name as MLflow takes it."""
    return "".join(letter if letter.isalnum() or letter in "_-. /" else "_" for letter in name)[:250]


class WandbRuns:
    """`--to` is a project, or `ENTITY/PROJECT`. WANDB_MODE=offline writes below WANDB_DIR and sends nothing."""

    title = "a run logged to Weights & Biases, sent with --to PROJECT or ENTITY/PROJECT"
    takes = ("run",)
    version = "wandb 0.2x"
    lost = _LOST

    def send(self, source: ExportSource, destination: str) -> str:
        """Log the agents of a run, each under an id of its own, so that logging again changes the same run.

        Raises:
            BadInput: It names no project.
            MissingExtra: Without wandb.
            Unavailable: It did not take them.
        """
        entity, _, project = destination.rpartition("/")
        if not project:
            raise BadInput(f"{quote(destination)} names no project.", "Write PROJECT or ENTITY/PROJECT.")
        try:
            import wandb
        except ImportError:
            raise MissingExtra("wandb", "trackers") from None
        assert source.run is not None
        agents = list(figures_of_agents(source))
        try:
            for number, one in enumerate(agents):
                # Nothing of this machine is looked at: no code, no hardware, no console.
                quiet = wandb.Settings(
                    console="off", disable_code=True, disable_git=True, x_disable_stats=True, x_disable_meta=True,
                    save_code=False, silent=True, host="", x_save_requirements=False,
                )  # fmt: skip
                run = wandb.init(
                    project=project, entity=entity or None, id=f"{source.run.plan.id}-{number}", name=one.agent,
                    group=source.run.plan.suite, config=dict(one.parameters), resume="allow", settings=quiet,
                )  # fmt: skip
                table = wandb.Table(columns=list(COLUMNS), data=[list(row) for row in one.rows])
                run.log({**one.metrics, "attempts_table": table})
                run.summary.update(one.metrics)
                run.finish()
        except wandb.errors.Error as error:
            raise Unavailable(
                f"Weights & Biases did not take it: {reason_of(error)}.",
                "Log in with `wandb login`, or set WANDB_MODE=offline.",
            ) from error
        return f"{len(agents)} runs to the project {destination}"
