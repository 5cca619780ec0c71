"""The environment variables of RepoAssay's own: what each says, and a sentence for one that is mistyped."""

from __future__ import annotations

import os
from collections.abc import Mapping

from repoassay.errors import BadInput

__all__ = ["VARIABLES", "WITHIN", "check_variables"]

VARIABLES = {
    "REPOASSAY_CACHE": "Folder of what is kept to make workspaces quick, instead of `~/.cache/repoassay`.",
    "REPOASSAY_CLUSTER": "The cluster of `--isolation kubernetes` where this names none, which `doctor` tries.",
    "REPOASSAY_DATA": "Folder of suites' data and of reviews, instead of `~/.local/share/repoassay`.",
    "REPOASSAY_DATABASE": "The queue of `serve`: the URL of its database.",
    "REPOASSAY_ENVIRONMENTS": "Folder of frozen environments, `ID.yml`, of rows that Inspect's own tasks run.",
    "REPOASSAY_EXECUTOR": "What `--executor` is where it is not given.",
    "REPOASSAY_IMAGE": "The image of `--isolation kubernetes`, `docker`, `podman` or `apptainer` where it names none.",
    "REPOASSAY_INDEX_URL": "The package index that environments are built from, before uv's and pip's own settings.",
    "REPOASSAY_ISOLATION": "What `--isolation` is where it is not given.",
    "REPOASSAY_MIRRORS": "Folder of repositories, such as `OWNER--NAME.bundle`, of rows that Inspect's own tasks run.",
    "REPOASSAY_NPM_REGISTRY": "The npm registry that environments are built from, before npm's own settings.",
    "REPOASSAY_PACKAGE_HOSTS": "Further hosts that builds, those of imports too, may fetch from, spaces between.",
    "REPOASSAY_OIDC_SECRET": "Secret of the client of `review --oidc` at the identity provider.",
    "REPOASSAY_REVIEW_DATABASE": "Where ratings lie: the URL of the database of `review` and `serve`.",
    "REPOASSAY_SANDBOX_TOKEN": "The token for the server of `--isolation http`; it goes nowhere else.",
    "REPOASSAY_SANDBOX_URL": "The server of `--isolation http` where this names none, which `doctor` tries.",
    "REPOASSAY_TRACEBACK": "1 shows the traceback of an error nobody foresaw.",
    "REPOASSAY_UNDATED_FILES": "`serve` takes files whose index does not tell their day; else they are refused.",
    "REPOASSAY_WEIGHTS": "Folder of networks' weights for a program that calls a metric itself, outside the sandbox.",
}
"""What users set; docs/reference/environment.md lists the same."""
WITHIN = (
    "REPOASSAY_CHANNEL", "REPOASSAY_EXEC", "REPOASSAY_KEY", "REPOASSAY_MODEL", "REPOASSAY_READER", "REPOASSAY_RESULTS",
    "REPOASSAY_ROOT", "REPOASSAY_TEST", "REPOASSAY_WORKSPACE",
)  # fmt: skip
"""What programs inside a sandbox are told, RepoAssay itself where it is the task."""
_DEVELOPMENT = ("REPOASSAY_GOLDEN", "REPOASSAY_REGENERATE", "REPOASSAY_TEST_AGENTS")


def check_variables(environment: Mapping[str, str] = os.environ) -> None:
    """See that no variable of ours is mistyped, which would be ignored without a word.

    Raises:
        BadInput: For the first unknown variable whose name begins as ours do.
    """
    known = {*VARIABLES, *WITHIN, *_DEVELOPMENT}
    for name in sorted(environment):
        if name.startswith("REPOASSAY_") and name not in known:
            from repoassay.text import quote, suggest

            remedy = suggest(name, VARIABLES, list_known=False) or "Unset it; docs/reference/environment.md lists all."
            raise BadInput(f"There is no environment variable {quote(name)}.", remedy)
