"""Recipes tried in turn until a repository's own tests run: each is built, and its tests run once with the solution."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from repoassay.construct.history import HistoryEntry
from repoassay.construct.in_place import count_test_functions
from repoassay.construct.recipe.infer import EnvironmentRecipe, Inference
from repoassay.construct.recipe.requirement_lines import requirement_name
from repoassay.construct.task_draft import TaskDraft
from repoassay.diffs import apply_patch, read_patch
from repoassay.errors import DiskFull, InfraFault
from repoassay.grading import HiddenTestRun, run_hidden
from repoassay.sandbox import Sandbox
from repoassay.text import join_names, normalize_name, printable
from repoassay.types import Ended
from repoassay.workspace import PreparedTask

__all__ = ["RecipeTrial", "run_recipe", "try_recipes"]


_MOST_TRIALS = 6
_MOST_SECONDS = 600.0
"""Seconds of running tests after which no further recipe is tried: what waits for a network does so with each."""
_GOOD = 0.05
"""The share of lost tests with which no further recipe is tried."""
_MODULE = re.compile(r"No module named '?([A-Za-z0-9_]{1,100})")
_FIXTURE = re.compile(r"fixture '([A-Za-z0-9_]{1,100})' not found")
_OPTION = re.compile(r"unrecognized arguments: (--?[a-z][a-z-]*)")
_PACKAGES = {
    "yaml": "pyyaml", "dateutil": "python-dateutil", "attr": "attrs", "PIL": "pillow", "bs4": "beautifulsoup4",
    "sklearn": "scikit-learn", "git": "gitpython", "dotenv": "python-dotenv", "OpenSSL": "pyopenssl", "jwt": "pyjwt",
    "Crypto": "pycryptodome", "docx": "python-docx", "zmq": "pyzmq", "socks": "pysocks", "pkg_resources": "setuptools",
    "serial": "pyserial", "cv2": "opencv-python-headless", "google": "protobuf", "jose": "python-jose",
    "multipart": "python-multipart", "slugify": "python-slugify", "magic": "python-magic", "usb": "pyusb",
    "MySQLdb": "mysqlclient", "psycopg2": "psycopg2-binary", "lxml": "lxml", "mock": "mock", "six": "six",
    "nose": "nose", "numpy": "numpy", "pandas": "pandas", "hypothesis": "hypothesis", "freezegun": "freezegun",
    "distutils": "setuptools", "pytz": "pytz", "simplejson": "simplejson", "toml": "toml", "tomli": "tomli",
    "parameterized": "parameterized", "ddt": "ddt", "responses": "responses", "typing_extensions": "typing-extensions",
}  # fmt: skip
"""Packages by the module they bring, where their names differ or where tests use them without a word."""
_FIXTURES = {
    "mocker": "pytest-mock", "httpbin": "pytest-httpbin", "httpbin_secure": "pytest-httpbin",
    "benchmark": "pytest-benchmark", "freezer": "pytest-freezer", "httpx_mock": "pytest-httpx",
    "requests_mock": "requests-mock", "snapshot": "syrupy", "subtests": "pytest-subtests", "testdir": "",
    "aiohttp_client": "pytest-aiohttp", "event_loop": "pytest-asyncio", "anyio_backend": "anyio", "faker": "faker",
    "httpserver": "pytest-httpserver", "datadir": "pytest-datadir", "shared_datadir": "pytest-datadir",
    "fs": "pyfakefs", "data_regression": "pytest-regressions", "file_regression": "pytest-regressions",
    "time_machine": "time-machine",
    "aioresponses": "aioresponses", "betamax_session": "betamax", "script_runner": "pytest-console-scripts",
}  # fmt: skip
_OPTIONS = {
    "--cov": "pytest-cov", "--no-cov": "pytest-cov", "-n": "pytest-xdist", "--timeout": "pytest-timeout",
    "--asyncio-mode": "pytest-asyncio", "--benchmark-disable": "pytest-benchmark", "--reruns": "pytest-rerunfailures",
}  # fmt: skip
_KNOWN = frozenset({*_PACKAGES.values(), *_FIXTURES.values(), *_OPTIONS.values()})
"""Packages that are well known to tests, which may import a plug-in by its own name."""


@dataclass(frozen=True, slots=True)
class RecipeTrial:
    """A recipe that could be built: the draft with it, laid out, a run with the solution, and what of it was lost.

    `unseen` counts the tests that stand in files of which the run reported none.
    """

    draft: TaskDraft
    layout: PreparedTask
    run: HiddenTestRun
    unseen: Mapping[str, int]

    @property
    def ended(self) -> bool:
        """Whether the run came to its end within the limit of time."""
        return self.run.exit.ended is not Ended.TIMED_OUT

    @property
    def passed(self) -> int:
        """How many tests passed."""
        return sum(test.outcome == "passed" for test in self.run.report.others)

    @property
    def lost(self) -> float:
        """The share of tests that did not pass; 1 where none was run."""
        failed = sum(test.outcome not in ("passed", "skipped") for test in self.run.report.others)
        whole = self.passed + failed + sum(self.unseen.values())
        return (whole - self.passed) / whole if whole else 1.0

    @property
    def complaint(self) -> str:
        """Why another recipe may be better, without a full stop."""
        if not self.ended:
            return f"the tests did not end within {self.draft.task.hidden_tests.seconds:g} s"
        return f"{self.lost:.0%} of the tests are lost"

    def missing(self, inference: Inference) -> tuple[str, ...]:
        """Packages that the run asked for, by import, fixture or option, and that are not installed."""
        report = self.run.report
        text = "\n".join(
            [self.run.printed, *report.broken, *(test.message for test in report.others if test.outcome != "passed")]
        )
        own = {path.removeprefix(inference.project.root).partition("/")[0].removesuffix(".py")
               for path in inference.project.files}  # fmt: skip
        own |= {path.split("/")[1].removesuffix(".py") for path in inference.project.files if path.startswith("src/")}
        found: dict[str, None] = {}
        for module in _MODULE.findall(text):
            wanted = _PACKAGES.get(module, normalize_name(module))
            if module not in own and (wanted in _KNOWN or inference.named(wanted)):
                found[wanted] = None
        for names, known in ((_FIXTURE.findall(text), _FIXTURES), (_OPTION.findall(text), _OPTIONS)):
            found |= dict.fromkeys(package for name in names if (package := known.get(name)))
        if re.search(r"async def functions? (is|are) not (natively )?supported", text):
            found["pytest-asyncio" if not inference.named("anyio") else "anyio"] = None
        return tuple(found)

    def skipped_for(self, inference: Inference) -> tuple[str, ...]:
        """Packages, named by the project or well known, which tests give as the reason why they skip."""
        reasons = [
            test.message.rpartition("Skipped:")[2] for test in self.run.report.others if test.outcome == "skipped"
        ]
        words = {word for reason in reasons for word in re.findall(r"[A-Za-z][\w.-]*\w", reason)}
        words |= {part for word in words for part in word.split("_")}
        names = {word: normalize_name(_PACKAGES.get(word, word)) for word in words if word}
        return tuple(sorted({name for word, name in names.items()
                             if inference.named(name) or _PACKAGES.get(word) == word}))  # fmt: skip


def try_recipes(
    draft: TaskDraft,
    inference: Inference,
    requirements: Sequence[str],
    lay: Callable[[TaskDraft], PreparedTask],
    tree: Mapping[str, HistoryEntry],
    read: Callable[[HistoryEntry], bytes],
    sandbox: Sandbox,
    step: Callable[[str], None],
    *,
    share_date: bool = False,
) -> tuple[RecipeTrial | None, list[str]]:
    """Try recipes, the likeliest first, until one loses next to no test.

    Newer interpreters come first, then older ones; with the commit's date, then without; with what tests turned out to
    miss besides.

    Args:
        draft: The task, whose environment is to be found.
        inference: What its repository says.
        requirements: What the user asks for besides.
        lay: Writes a draft and lays it out.
        tree: The solution's tree.
        read: What a file of it holds.
        sandbox: Where tests run.
        step: Told of each attempt and of what became of it.
        share_date: Whether the first is as of a day before the commit that others near to it share.

    Returns:
        The best trial, None where nothing could be built, and a sentence for every recipe that was given up.
    """
    best: RecipeTrial | None = None
    given_up: list[str] = []
    waiting = _ladder(inference, shared=share_date)
    tried: set[tuple[object, ...]] = set()
    count, seconds = 0, 0.0
    while waiting and seconds < _MOST_SECONDS:
        way = waiting.pop(0)
        recipe = inference.recipe(
            way.line, with_date=way.dated, with_pins=way.pinned, extra_packages=way.besides, shared_date=way.shared,
            with_project=way.with_project,
        )  # fmt: skip
        what = _words(recipe, way)
        identity = (recipe.python, recipe.requirements, recipe.exclude_newer, way.with_project)
        if identity in tried or (count >= _MOST_TRIALS if way.with_project else best is not None):
            continue
        tried.add(identity)
        count += 1
        step(f"trying {what}")
        try:
            trial = run_recipe(draft.with_recipe(recipe, requirements), lay, tree, read, sandbox, count_test_functions)
        except DiskFull:
            raise
        except InfraFault as error:
            why = printable(" ".join(error.message.split()), 600)
            given_up.append(f"{what}: {why}")
            step(f"not with {what}: {why}")
            if not way.pinned:
                continue
            if not way.shared:
                waiting.insert(0, replace(way, pinned=False))
            continue
        if best is None or (not trial.ended, trial.lost, -trial.passed) < (not best.ended, best.lost, -best.passed):
            best = trial
        seconds += trial.run.exit.wall
        good = trial.ended and trial.lost <= _GOOD
        # An import that was caught names no package.
        wanted = trial.skipped_for(inference) if good else trial.missing(inference) or inference.optional()
        there = {requirement_name(line) for line in recipe.requirements}
        missing = tuple(name for name in wanted if name not in way.besides and requirement_name(name) not in there)
        if good and not missing:
            break
        why = f"tests skip for want of {join_names(missing, 5)}" if good else trial.complaint
        given_up.append(f"{what}: {why}.")
        step(f"not only with {what}: {why}")
        if missing:
            waiting[: len(waiting) if good else 0] = [replace(way, besides=(*way.besides, *missing))]
    return best, given_up


@dataclass(frozen=True, slots=True)
class _Way:
    line: str
    dated: bool = True
    pinned: bool = True
    besides: tuple[str, ...] = ()
    shared: bool = False
    with_project: bool = True


def _ladder(inference: Inference, *, shared: bool) -> list[_Way]:
    lines = inference.lines[:3]
    near = [_Way(line, shared=True) for line in lines[:1]] if shared else []
    last = [_Way(line, dated=False) for line in lines[:1]] + [_Way(line, with_project=False) for line in lines[:1]]
    return [*near, *(_Way(line) for line in lines), *last]


def _words(recipe: EnvironmentRecipe, way: _Way) -> str:
    parts = [f"Python {recipe.python}", f"packages as of {recipe.exclude_newer or 'today'}"]
    parts += [] if way.pinned else ["without exact versions"]
    parts += [] if way.with_project else ["not installed"]
    parts += [f"with {join_names(way.besides, 5)}"] if way.besides else []
    return ", ".join(parts)


def run_recipe(
    draft: TaskDraft, lay: Callable[[TaskDraft], PreparedTask], tree: Mapping[str, HistoryEntry],
    read: Callable[[HistoryEntry], bytes], sandbox: Sandbox, count: Callable[[str], int],
) -> RecipeTrial:  # fmt: skip
    """Lay a draft out and run its tests once with the solution; `count` says how many tests a file declares.

    Raises:
        InfraFault: When its environment cannot be built or its tests cannot be started.
    """
    layout = lay(draft)
    edits = apply_patch(read_patch(draft.diff), layout.base).edits
    run = run_hidden(layout.folder, layout.base, edits, sandbox, layout.environment)
    places = {test.id.partition("::")[0] for test in run.report.others}
    unseen = {
        file: found for file in draft.tests
        if not any(place == file or file.endswith(f"/{place}") for place in places)
        and (found := count(read(tree[file]).decode(errors="replace")))
    }  # fmt: skip
    return RecipeTrial(draft, layout, run, unseen)
