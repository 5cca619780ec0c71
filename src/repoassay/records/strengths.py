"""`strength.json`: what is known of the strength of tasks, beside a suite's `suite.toml` or a run's plan."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.records.durable_write import write_once
from repoassay.records.files import read_regular, reason
from repoassay.records.versions import parse, to_json, validation_reason
from repoassay.types import SuiteStrength

__all__ = ["read_strengths", "write_strengths"]

_FILE = "strength.json"
_LARGEST = 64 << 20
_REMEDY = "Remove it, or make it again with `repoassay tasks validate SUITE --save-strength`."


def read_strengths(folder: Path) -> SuiteStrength | None:
    """What a folder tells; None where it tells nothing.

    Raises:
        BadInput: When its file cannot be read.
    """
    path = folder / _FILE
    try:
        return parse(SuiteStrength, read_regular(path, _LARGEST), str(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}.", _REMEDY) from error
    except ValidationError as error:
        raise BadInput(f"{path} tells no strengths: {validation_reason(error)}.", _REMEDY) from error


def write_strengths(folder: Path, strengths: SuiteStrength, *, replace: bool = False) -> Path:
    """Write a folder's file; one that is there stays, unless it is to be replaced.

    Raises:
        BadInput: When it cannot be written.
    """
    path = folder / _FILE
    try:
        if replace:
            path.unlink(missing_ok=True)
        write_once(path, to_json(strengths, indent=1, exclude_defaults=True) + b"\n")
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {reason(error)}.", "Use a folder that you may write to.") from error
    return path
