"""RepoAssay judges code agents on real repository work.

A task says what is asked; a workspace lays it out in isolation; an agent works there; what it leaves is a submission;
grading turns that into a verdict; reports show what the verdicts add up to.
"""

from __future__ import annotations

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    # Read on demand: importlib.metadata costs more than the rest of `repoassay --version`.
    if name == "__version__":
        from importlib.metadata import version

        globals()[name] = version("repoassay")  # it is asked for with every verdict
        return str(globals()[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
