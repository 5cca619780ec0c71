"""What pytest loads of us at its start: options, and hooks that compare names of files until a task is named.

`pytest my-suite` runs the tasks of a suite, a folder of task folders or one task folder; `task_items` is imported then
alone. Hidden tests are never collected, whoever names what: they run in a sandbox, and are no tests of this host.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from repoassay.tasks import is_task_folder, task_above

__all__ = ["named_tasks"]

_TASK = "task.toml"
_SUITE = "suite.toml"
_NAMED = pytest.StashKey[frozenset[Path]]()
_PASSED_OVER = pytest.StashKey[set[Path]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the options of tasks."""
    group = parser.getgroup("repoassay", "tasks of RepoAssay (name a suite, or a task's folder)")
    add = group.addoption
    add("--repoassay-agent", metavar="NAME", default="reference",
        help="Who works on the tasks: `repoassay agents list`; by default their own solution.")  # fmt: skip
    add("--repoassay-model", metavar="MODEL", default=None, help="The model that the agent asks: provider/name.")
    add("--repoassay-budget", metavar="USD", default=None, help="Dollars that each attempt may spend.")
    add("--repoassay-runs", metavar="FOLDER", default=None, help="Keep the run of each task below FOLDER.")
    add("--repoassay-isolation", metavar="KIND", default=None, help="The sandbox, as `repoassay run --isolation`.")
    add("--repoassay-validate", action="store_true",
        help="Instead: prove that each task can be trusted, but for mutants.")  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Find out whether tasks are named, before pytest imports a `conftest.py` that lies among hidden tests."""
    early_config.stash[_PASSED_OVER] = set()
    tasks: set[Path] = set()
    others: list[str] = []
    for name, path in _arguments(early_config):
        found = named_tasks(path)
        tasks.update(found)
        if not found:
            others.append(name)
            above = _hidden_in(path)
            if above is not None:
                raise pytest.UsageError(
                    f"{name} is part of the task {above.name}, whose tests are hidden and run in a sandbox alone. "
                    f"Name its folder, {above}, or switch us off: -p no:repoassay."
                )
            _check_early(path)
    if tasks and others:
        raise pytest.UsageError(
            f"Tasks and other tests are named together ({others[0]}). Call pytest for each: a task's run imports no "
            "conftest.py, which other tests may need."
        )
    early_config.stash[_NAMED] = frozenset(tasks)
    if tasks:
        _check_settings(early_config, tasks)
        early_config.known_args_namespace.noconftest = True


def _check_early(named: Path) -> None:
    """Refuse the `conftest.py` of a suite that pytest would import before it asks us: in a folder called `test*`."""
    for folder in named.glob("test*") if named.is_dir() else ():
        conftest = folder / "conftest.py"
        if os.path.lexists(conftest) and (os.path.lexists(folder / _SUITE) or _hidden_in(conftest)):
            raise pytest.UsageError(
                f"{folder} holds tasks, and its conftest.py would be run on this machine. "
                f"Remove that file, give the folder another name, or name other folders than {named}."
            )


def _check_settings(config: pytest.Config, tasks: set[Path]) -> None:
    """Refuse settings that came with the tasks: a stranger's `addopts` may choose the agent, or no sandbox at all.

    Theirs are those among the tasks, and those that pytest found on the way up from them and not from where it is.
    """
    settings, here = config.inipath, config.invocation_params.dir
    if settings is None or "-c" in config.invocation_params.args or config.known_args_namespace.inifilename:
        return
    place = Path(os.path.abspath(settings.parent))  # noqa: PTH100 - as `_arguments`
    if place not in (here, *here.parents) or any(place in _own_folders(task) for task in tasks):
        raise pytest.UsageError(
            f"{settings} lies among the tasks, and would say how pytest runs them. "
            "Remove it where you trust who wrote it, or name settings of your own: -c FILE."
        )


def _own_folders(task: Path) -> list[Path]:
    """Folders that came with a task: its own, the one that holds it, and its suite's."""
    own = [task, task.parent]
    return [*own, task.parents[1]] if os.path.lexists(task.parents[1] / _SUITE) else own


def _arguments(config: pytest.Config) -> Iterator[tuple[str, Path]]:
    """What pytest was asked to collect: arguments, else `testpaths`, else the working folder."""
    here = config.invocation_params.dir
    names: list[str] = list(getattr(config.known_args_namespace, "file_or_dir", ()))
    if not names and here == config.rootpath:
        patterns = config.getini("testpaths")
        names = [name for each in patterns for name in sorted(glob.iglob(each, recursive=True))]  # noqa: PTH207 - alike
    for name in names or ["."]:
        place = name.partition("::")[0]
        yield name, Path(os.path.abspath(here / place))  # noqa: PTH100 - of a link its own place
        if getattr(config.known_args_namespace, "pyargs", False):  # a module, looked for and not yet imported
            modules = [Path(top or here, *place.split(".")) for top in (*config.getini("pythonpath"), *sys.path)]
            yield from ((name, module) for module in modules if _hidden_in(module))


def _hidden_in(path: Path) -> Path | None:
    """The task folder that a path lies in, by its name or by what its links lead to."""
    return task_above(path) or task_above(Path(os.path.realpath(path)))


def named_tasks(path: Path) -> list[Path]:
    """Task folders that a path names: those of a suite, those right below a folder, the folder itself, its `task.toml`.

    A few system calls where there are none.
    """
    if path.name == _TASK:
        path = path.parent
    if is_task_folder(path):
        return [path]
    below = path / "tasks" if os.path.lexists(path / _SUITE) else path
    try:
        with os.scandir(below) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
    return [below / name for name in names if name[:1] != "." and is_task_folder(below / name)]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of named tasks let nothing but `task.toml` be collected; others, and suites, are passed over whole."""
    tasks = config.stash.get(_NAMED, frozenset())
    if tasks:
        is_folder = collection_path.is_dir()
        wanted = any(task == collection_path or collection_path in task.parents for task in tasks)
        return not (wanted if is_folder else collection_path.name == _TASK and collection_path.parent in tasks)
    if os.path.lexists(collection_path / _SUITE) or is_task_folder(collection_path):
        found = named_tasks(collection_path)
        config.stash[_PASSED_OVER].update(found)
        return bool(found) or None
    return True if collection_path.is_symlink() and _hidden_in(collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Of named tasks let no folder be a package, whose `__init__.py` would be imported on this machine."""
    if not parent.config.stash.get(_NAMED, frozenset()):
        return None
    folder: pytest.Dir = pytest.Dir.from_parent(parent, path=path)
    return folder


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Make a named `task.toml` a collector of its task."""
    if file_path.name != _TASK or file_path.parent not in parent.config.stash.get(_NAMED, frozenset()):
        return None
    from repoassay.integrations.task_items import TaskFile

    collector: TaskFile = TaskFile.from_parent(parent, path=file_path)
    return collector


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say who works on named tasks."""
    tasks = config.stash.get(_NAMED, frozenset())
    if not tasks:
        return None
    who = "proofs" if config.getoption("repoassay_validate") else f"agent {config.getoption('repoassay_agent')}"
    return f"repoassay: {len(tasks)} task{'s' * (len(tasks) != 1)} named, {who}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tasks lie below what was named, which were not run."""
    count = len(config.stash.get(_PASSED_OVER, set()))
    if count:
        terminalreporter.write_line(
            f"repoassay: {count} task folder{'s' * (count != 1)} passed over; name their suite to run them."
        )
