"""Builds a demonstration data set: task folders and packages in, rows in RES-Q's published format out.

Run `python examples/resq-demo/build.py` with repoassay installed and a package index within reach; with
`--place examples/resq-demo-js` it makes the rows in JavaScript, and needs a registry of npm. The same folders give the
same bytes. `--check` also runs every test script against the base (it must fail) and the solution (it must pass), three
times each, without isolation: the packages and scripts are those named here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

from repoassay.errors import BadInput, RepoAssayError
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.programs import node_program, uv_program
from repoassay.tasks import TaskFolder
from repoassay.types import Task, TaskKind
from repoassay.workspace.checkouts import checkout
from repoassay.workspace.git import run_git

__all__ = ["build_row", "main", "task_folders"]

HERE = Path(__file__).parent
_FAILURES = re.compile(
    r"(\d+) failed|FAILED \(|^# fail [1-9]|^AssertionError|^TypeError: \S+ is not a function", re.MULTILINE
)
_KEYS = {"package", "version", "sha256", "licence", "requirements"}
_REPEATS = 3


def task_folders(place: Path = HERE) -> list[Path]:
    """Every task folder of a place, by name."""
    return sorted(file.parent for file in place.glob("*/task.toml"))


def build_row(folder: Path, cache: Cache) -> dict[str, Any]:
    """Return the row of one task folder.

    Raises:
        BadInput: When the folder lacks something, or its patch does not apply to its package.
        InfraFault: When the source distribution cannot be had.
    """
    kept = _checkout(folder, cache)
    base = _head(kept, {"GIT_DIR": ".git"})
    # An index and a store of its own over the kept objects: nothing of the tree needs to be copied.
    env = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(kept / ".git" / "objects")}
    with tempfile.TemporaryDirectory(prefix="resq-demo-") as place:
        run_git(Path(place), "init", "--quiet", "--template=")
        run_git(Path(place), "update-ref", "HEAD", base, env=env)
        run_git(Path(place), "read-tree", base, env=env)
        return _row(folder, Path(place), base, env)


def _settings(folder: Path) -> dict[str, Any]:
    settings = tomllib.loads((folder / "task.toml").read_text())
    if settings.keys() != _KEYS:
        odd = ", ".join(sorted(settings.keys() ^ _KEYS))
        raise BadInput(f"{folder.name}/task.toml lacks or should not have {odd}.", "Compare it with the others.")
    return settings


def _checkout(folder: Path, cache: Cache) -> Path:
    """The read-only one-commit checkout that repoassay itself makes of the package."""
    settings = _settings(folder)
    repository = {
        "source": _source(settings),
        "sha256": settings["sha256"],
        "licence": settings["licence"],
    }
    task = Task.model_validate(
        {
            "id": folder.name,
            "title": f"A change to {settings['package']}",
            "kind": TaskKind.EDIT,
            "domain": "demonstration",
            "repository": repository,
            "grading": {"tests": {"fail_to_pass": ["test_script.py"]}},
        }
    )
    return checkout(TaskFolder(path=folder, task=task, instruction="", digest="0" * 64), None, cache)


def _source(settings: Mapping[str, Any]) -> str:
    """`pypi:NAME==VERSION`, or `npm:...` where the package says so."""
    package = settings["package"]
    return f"{package if ':' in package else 'pypi:' + package}=={settings['version']}"


def _script(folder: Path) -> Path:
    """The script that decides: `test_script.py`, or JavaScript by whatever suffix it needs."""
    found = sorted(folder.glob("test_script.*"))
    if len(found) != 1:
        raise BadInput(f"{folder.name} has {len(found)} test scripts.", "Keep one.")
    return found[0]


def _row(folder: Path, repository: Path, base: str, env: Mapping[str, str]) -> dict[str, Any]:
    settings = _settings(folder)
    python = _script(folder).suffix == ".py"
    _apply(folder, repository, "--cached", env=env)
    run_git(repository, "commit", "--quiet", "--message=Solution of the task", env=env)
    listing = run_git(
        repository, "diff", "--name-only", "-z", "--no-renames", "--diff-filter=d", base, "HEAD", env=env
    )  # d: but not what is deleted
    changed = sorted(name.decode() for name in listing.split(b"\0") if name)
    contents = [run_git(repository, "cat-file", "blob", f"HEAD:{name}", env=env).decode() for name in changed]
    return {
        "id": folder.name,
        "repo_url": f"{_source(settings)}?sha256={settings['sha256']}",
        "instruction": _text(folder / "instruction.md").strip(),
        "base_commit": base,
        "test_script": _text(_script(folder)),
        "testbed_environment": "python3.11" if python else "node 20",
        "requirements_txt": "".join(f"{line}\n" for line in settings["requirements"]),
        "solution_commit": _head(repository, env),
        "solution_patch": _text(folder / "solution.patch"),
        "modified_files": [{"path": name, "content": text} for name, text in zip(changed, contents, strict=True)],
        "language": "python" if python else "javascript",
    }


def _text(file: Path) -> str:
    return file.read_bytes().decode()  # read_text() would change line ends


def _head(tree: Path, env: Mapping[str, str]) -> str:
    return run_git(tree, "rev-parse", "HEAD", env=env).decode().strip()


def _apply(folder: Path, tree: Path, *options: str, env: Mapping[str, str] | None = None) -> None:
    patch = str((folder / "solution.patch").resolve())
    try:
        run_git(tree, "apply", "--whitespace=nowarn", *options, patch, env=env)
    except RepoAssayError as error:
        raise BadInput(
            f"{folder.name}/solution.patch does not apply: {error}", "Make it anew with git diff."
        ) from error


def _check(folder: Path, cache: Cache) -> Iterator[str]:
    """Complaints about a task whose tests do not fail at the base and pass at the solution, every time."""
    with tempfile.TemporaryDirectory(prefix="resq-demo-") as place:
        tree = Path(place, "tree")
        shutil.copytree(_checkout(folder, cache), tree, symlinks=True)
        name = _script(folder).name
        script = _script(folder).read_text()
        runs: dict[str, Sequence[str]] = {"pytest": ("-m", "pytest", "-q", "-p", "no:cacheprovider", name)}
        if name != "test_script.py":
            runs = {"node": (name,)}
        elif "unittest.main(" in script:
            runs["python"] = (name,)
        node = "node" in runs
        program = Path(node_program()) if node else _environment(cache, _settings(folder)["requirements"])
        for state in ("base", "solution"):
            if state == "solution":
                _apply(folder, tree)
            (tree / name).write_text(script)
            for runner, arguments in runs.items():
                for _ in range(_REPEATS):
                    yield from _judge(f"{folder.name} at the {state} with {runner}", state, program, arguments, tree)
            (tree / name).unlink()


def _judge(what: str, state: str, program: Path, arguments: Sequence[str], tree: Path) -> Iterator[str]:
    env = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
    done = subprocess.run(
        [str(program), *arguments], cwd=tree, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    said = done.stdout + done.stderr
    if state == "solution" and done.returncode != 0:
        yield f"{what} does not pass: {said[-2000:]}"
    if state == "base":
        failed = _FAILURES.search(said)
        if done.returncode == 0 or failed is None:
            yield f"{what} does not fail as tests do: {said[-2000:]}"
        if "pytest" in arguments and re.search(r"\d+ passed", said) is None:
            yield f"{what} passes no test that guards what works already"


def _environment(cache: Cache, requirements: Sequence[str]) -> Path:
    """A virtual environment with pytest and what the task names; returns its interpreter."""
    wanted = ["pytest", *requirements]

    def build(part: Path) -> None:
        for arguments in (
            ("venv", "--quiet", "--python", sys.executable, "--no-project", "--allow-existing", "--relocatable", part),
            ("pip", "install", "--quiet", "--python", part / "bin" / "python", *wanted),
        ):
            subprocess.run([uv_program(), *map(str, arguments)], check=True, env=os.environ)

    key = re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(wanted))
    return cache.entry("resq-demo-environments", key, build) / "bin" / "python"


@click.command()
@click.option("--place", type=click.Path(path_type=Path, exists=True), default=HERE, help="Folder of task folders.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the rows go.  [default: demo.jsonl in the place]")
@click.option("--check", is_flag=True, help="Also run every test script at the base and at the solution.")
@click.option("--only", default="", help="Check only tasks whose id contains this text.")
def main(place: Path, out: Path | None, *, check: bool, only: str) -> None:
    """Write one row a task in RES-Q's published format."""
    try:
        cache = Cache()
        out = out or place / "demo.jsonl"
        rows = [build_row(folder, cache) for folder in task_folders(place)]
        out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        click.echo(f"{len(rows)} tasks of {len({row['repo_url'] for row in rows})} packages in {out}")
        if check:
            folders = [folder for folder in task_folders(place) if only in folder.name]
            with ThreadPoolExecutor(2) as pool:
                complaints = [said for many in pool.map(lambda one: list(_check(one, cache)), folders) for said in many]
            for said in complaints:
                click.echo(said, err=True)
            click.echo(f"{len(folders)} tasks checked, {len(complaints)} complaints")
            sys.exit(1 if complaints else 0)
    except RepoAssayError as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
