"""The version of a project whose build asks version control for it; a checkout without history cannot tell."""

from __future__ import annotations

import re

from repoassay.construct.recipe.declarations import setup_arguments
from repoassay.construct.recipe.project import Project, at, string_list

__all__ = ["version_of_description", "version_variables"]

_DESCRIBED = re.compile(r"(?P<tag>.+)-(?P<ahead>\d+)-g[0-9a-f]+")
_STEP = r"[-_.]?(?:alpha|a|beta|b|rc|c|post|dev)(?:[-_.]?\d+)?"
_VERSION = re.compile(rf"(?:^|[-_/v])v?(?P<release>\d+(?:[._]\d+)*)(?P<rest>(?:{_STEP})*)$", re.IGNORECASE)


def version_of_description(described: str) -> str | None:
    """What `git describe --tags --long` comes to: the tag's version, or the development version after it.

    None where the tag names no version.
    """
    whole = _DESCRIBED.fullmatch(described.strip())
    found = _VERSION.search(whole["tag"]) if whole else None
    if whole is None or found is None:
        return None
    release, rest = found["release"].replace("_", "."), re.sub(r"[-_]", ".", found["rest"]).lower()
    if whole["ahead"] == "0":
        return release + rest
    if rest:
        return f"{release}{re.sub(r'[.]?dev.*$', '', rest)}.dev{whole['ahead']}"
    head, _, last = release.rpartition(".")
    return f"{head}{'.' if head else ''}{int(last) + 1}.dev{whole['ahead']}"


def version_variables(project: Project, described: str | None) -> tuple[dict[str, str], str]:
    """Variables that tell a project's build its version, and a sentence; none where it does not ask.

    Args:
        project: The project.
        described: What `git describe` says of the commit; None where no tag comes before it.
    """
    tool = _tool(project)
    if tool is None:
        return {}, ""
    version = version_of_description(described) if described else None
    number = version or "0.1.dev0"
    why = f"from `git describe`, {described}" if version else "no tag before the commit names one"
    names = {
        "pbr": ("PBR_VERSION",), "pdm": ("PDM_BUILD_SCM_VERSION",), "poetry": ("POETRY_DYNAMIC_VERSIONING_BYPASS",),
    }.get(tool, ("SETUPTOOLS_SCM_PRETEND_VERSION",))  # fmt: skip
    return dict.fromkeys(names, number), f"Version {number} ({why}), which {tool} asks version control for."


def _tool(project: Project) -> str | None:
    document = project.toml("pyproject.toml")
    requires = " ".join(string_list(at(document, "build-system", "requires")))
    arguments = setup_arguments(project)
    requires += " ".join(string_list(arguments.get("setup_requires")))
    requires += project.ini("setup.cfg").get("options", "setup_requires", fallback="") or ""
    for tool in ("setuptools_scm", "hatch-vcs", "flit_scm"):
        if re.search(tool.replace("_", "[-_]"), requires):
            return tool
    if re.search(r"setuptools.git.versioning", requires):
        return None
    if "poetry-dynamic-versioning" in requires:
        return "poetry"
    if at(document, "tool", "pdm", "version", "source") == "scm" or "use_scm_version" in project.text("setup.py"):
        return "pdm" if "use_scm_version" not in project.text("setup.py") else "setuptools_scm"
    return "pbr" if re.search(r"\bpbr\b", requires) else None
