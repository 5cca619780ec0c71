"""Which release line of CPython a project of some day was tested with."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterator, Sequence

from repoassay.construct.recipe.declarations import setup_arguments
from repoassay.construct.recipe.project import Project, at, string_list

__all__ = ["RELEASED", "choose_lines", "settled_day"]

RELEASED = {
    "3.6": "2016-12-23", "3.7": "2018-06-27", "3.8": "2019-10-14", "3.9": "2020-10-05", "3.10": "2021-10-04",
    "3.11": "2022-10-24", "3.12": "2023-10-02", "3.13": "2024-10-07", "3.14": "2025-10-07", "3.15": "2026-10-01",
}  # fmt: skip
"""First release of each line (PEP 494, 537, 569, 596, 619, 664, 693, 719, 745, 790)."""
_SETTLED = datetime.timedelta(days=180)
"""How long after its release a line is taken for supported by who only states a lower bound."""
_CLASSIFIER = "Programming Language :: Python :: "
_WORKFLOWS = (".github/workflows/*.yml", ".github/workflows/*.yaml", ".travis.yml", ".circleci/config.yml",
              "azure-pipelines.yml")  # fmt: skip


def settled_day(line: str) -> datetime.date:
    """The day by which packages knew a release line; the first of all where it is not known."""
    released = RELEASED.get(line)
    return datetime.date.fromisoformat(released) + _SETTLED if released else datetime.date.min


def choose_lines(project: Project, day: datetime.date, there: Sequence[str]) -> tuple[list[str], str]:
    """Return the release lines worth a try, the best first, and a sentence that says why that one.

    The newest line that the project declared, that was released by then, and that is `there`; after it the older ones
    it declared, then whatever its lower bound allows. Where it declares none, the newest that was half a year old.
    """
    bound, where_bound = _bound(project)
    out = [line for line in there if RELEASED.get(line, "9999") <= day.isoformat()] or list(there[:1])
    fit = [line for line in out if _allows(bound, line)] or out
    named = {line: where for line, where in _stated_lines(project) if line in fit}
    declared = sorted(named, key=_number, reverse=True)
    settled = [line for line in fit if RELEASED.get(line, "9999") <= (day - _SETTLED).isoformat()] or fit[:1]
    others = sorted(settled, key=_number, reverse=True)
    chosen = list(dict.fromkeys([*declared, *(line for line in others if not declared or _older(line, declared[-1])),
                                 *others]))  # fmt: skip
    if not chosen:
        return [], "This machine has no interpreter that an environment can be made of."
    if declared:
        return chosen, f"Python {chosen[0]}: the newest of {named[chosen[0]]} that was released by {day}."
    why = f"allowed by {where_bound}, " if bound else "nothing in the repository names one; "
    return chosen, f"Python {chosen[0]}: {why}the newest that was settled by {day}."


def _number(line: str) -> int:
    return int(line.partition(".")[2])


def _older(line: str, than: str) -> bool:
    return _number(line) < _number(than)


def _bound(project: Project) -> tuple[str, str]:
    """The project's specifier of Python versions, and where it stands."""
    document = project.toml("pyproject.toml")
    setup_cfg = project.ini("setup.cfg")
    for value, where in (
        (at(document, "project", "requires-python"), "requires-python in pyproject.toml"),
        (at(document, "tool", "poetry", "dependencies", "python"), "poetry's dependencies"),
        (at(document, "tool", "flit", "metadata", "requires-python"), "flit's metadata"),
        (setup_cfg.get("options", "python_requires", fallback=None), "python_requires in setup.cfg"),
        (setup_arguments(project).get("python_requires"), "python_requires in setup.py"),
    ):
        if isinstance(value, str) and value.strip():
            return value, where
    return "", ""


def _allows(bound: str, line: str) -> bool:
    """Whether a specifier allows a release line; what of it is not understood allows all."""
    minor = _number(line)
    for part in re.split(r"[,\s]+(?=[<>=!~^])", bound):
        found = re.match(r"\s*(>=|<=|==|!=|~=|<|>|\^|~)\s*(\d{1,9})(?:\.(\d{1,9}))?", part)
        if found is None:
            continue
        sign, major, other = found[1], int(found[2]), int(found[3] or 0)
        exact = found[3] is not None
        if major != 3:
            if (major > 3 and sign in {">=", ">", "==", "^", "~="}) or (major < 3 and sign in {"==", "<", "<="}):
                return False
            continue
        refused = {
            ">=": minor < other, ">": minor < other, "^": minor < other, "~": exact and minor != other,
            "<": minor >= other, "<=": exact and minor > other, "==": exact and minor != other,
            "!=": exact and minor == other and part.rstrip().endswith("*"), "~=": minor < other,
        }[sign]  # fmt: skip
        if refused:
            return False
    return True


def _stated_lines(project: Project) -> Iterator[tuple[str, str]]:
    """Yield release lines that the project says it is tested with, and where; the strongest word last."""
    for path in project.matching(".python-version", ".python-version-default", "runtime.txt"):
        yield from ((line, path) for line in _lines_in(project.text(path)))
    for path in project.matching(*_WORKFLOWS):
        for row in _version_rows(project.text(path)):
            yield from ((line, path) for line in _lines_in(row))
    envlist = project.ini("tox.ini").get("tox", "envlist", fallback="") or ""
    envlist += " " + (project.ini("tox.ini").get("tox", "env_list", fallback="") or "")
    tox = at(project.toml("pyproject.toml"), "tool", "tox")
    envlist += f" {at(tox, 'legacy_tox_ini') or ''} {' '.join(string_list(at(tox, 'env_list')))}"
    yield from ((line, "tox's envlist") for line in _tox_lines(envlist))
    for origin, classifiers in _classifiers(project):
        for each in classifiers:
            if each.startswith(_CLASSIFIER):
                yield from ((line, f"the classifiers in {origin}") for line in _lines_in(each))


def _classifiers(project: Project) -> Iterator[tuple[str, Collection[str]]]:
    document = project.toml("pyproject.toml")
    yield "setup.py", string_list(setup_arguments(project).get("classifiers"))
    yield "setup.cfg", string_list(project.ini("setup.cfg").get("metadata", "classifiers", fallback="") or "")
    yield "setup.cfg", string_list(project.ini("setup.cfg").get("metadata", "classifier", fallback="") or "")
    yield "pyproject.toml", string_list(at(document, "tool", "flit", "metadata", "classifiers"))
    yield "pyproject.toml", string_list(at(document, "tool", "poetry", "classifiers"))
    yield "pyproject.toml", string_list(at(document, "project", "classifiers"))


def _lines_in(text: str) -> list[str]:
    return re.findall(r"(?<![\w.])(3\.\d{1,2})(?=$|[^\w]|\.\d)", text)


def _version_rows(workflow: str) -> Iterator[str]:
    """Lines of a workflow that state versions of Python: those that say so, and the list below one."""
    listing = False
    for row in workflow.splitlines():
        if re.search(r"python|tox|py:", row, re.IGNORECASE):
            listing = row.rstrip().endswith((":", "["))
            yield row
        elif listing and re.match(r"\s*(-|['\"]|3\.)", row):
            yield row
        else:
            listing = False


def _tox_lines(envlist: str) -> Iterator[str]:
    for numbers in re.findall(r"py(3\d{1,2}|3?\{[^}]*\})", envlist):
        prefix = "3" if numbers.startswith("3{") else ""
        for number in re.findall(r"(?<!\d)\d{1,3}(?!\d)", numbers.removeprefix("3") if prefix else numbers):
            digits = prefix + number
            if digits.startswith("3") and len(digits) > 1:
                yield f"3.{digits[1:]}"
    yield from _lines_in(envlist)
