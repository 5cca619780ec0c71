"""SWE-bench's row, with the recipe that its tests are run by."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, BeforeValidator, Field

from repoassay.benchmarks.swebench.directives import directives
from repoassay.benchmarks.swebench.frozen import FrozenEnvironment, read_environment, read_requirements
from repoassay.benchmarks.swebench.install_config import InstallConfig, Words, pytest_arguments
from repoassay.benchmarks.swebench.recipes import FROZEN_AT, RepositoryRecipe, recipe_for
from repoassay.errors import BadInput
from repoassay.formats import REQUIREMENTS, Row, RowId, TaskParts, Text, parse_json
from repoassay.text import quote
from repoassay.types import Environment, HiddenTests

__all__ = ["Ids", "Moment", "SweRow", "listed_ids", "published_image"]

_SECONDS = 1800.0
"""What SWE-bench gives the tests of a row."""
_PATCH = "tests/test.patch"
_LATER = timedelta(days=180)
_RARE = frozenset(
    {"created_at", "environment", "requirements", "install_config", "test_cmds", "language", "docker_image"}
)
_PUBLISHED = "swebench/sweb.eval.x86_64.{}:latest"
"""What SWE-bench calls its images, by id."""
_TOUCHED = re.compile(r"^\+\+\+ (?:b/)?([^\t\n\r]+)", re.MULTILINE)
_PYTHON = (".py", ".pyi", ".pyx", ".pyw")
_GIVE = "Give the row an install_config, as SWE-rebench has it, or a docker_image."
_OLDEST = "3.6"
"""The oldest release line that there are interpreters of."""


def listed_ids(value: object) -> object:
    """The published files have the lists as JSON strings, SWE-bench Pro as Python's."""
    if isinstance(value, str):
        value = _written(value, list, "write a list of test ids") if value.strip() else []
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list) else value


def _object(value: object) -> object:
    """SWE-rebench's tables have an object of their own, copies of them its text."""
    if not isinstance(value, str):
        return value
    return _written(value, dict, "write an object, as SWE-rebench has it") if value.strip() else None


def _written(text: str, kind: type, remedy: str) -> object:
    """What a text holds as JSON, or as Python writes it, where that is of one type.

    Raises:
        ValueError: When it is neither.
    """
    try:
        return parse_json(text)
    except ValueError as error:
        refused = ValueError(f"{error}; {remedy}")
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise refused from None
    if not isinstance(found, kind):
        raise refused
    return found


def _moment(value: object) -> object:
    """Some parquet files have a time in place of text."""
    if value is None:
        return ""
    return value.isoformat() if isinstance(value, datetime) else value


def _image(value: object) -> object:
    """Some data sets have an object of images under one of the keys."""
    return value if isinstance(value, str) else ""


Ids = Annotated[tuple[str, ...], BeforeValidator(listed_ids)]
Moment = Annotated[str, BeforeValidator(_moment)]


class SweRow(Row):
    """One task as SWE-bench's data sets have it.

    Attributes:
        instance_id: Name of the task, unique in its file.
        repo: `OWNER/NAME` on GitHub, or a git URL.
        base_commit: Full commit id that patches apply to.
        patch: Unified diff of the solution.
        test_patch: Unified diff of the tests.
        problem_statement: What to change, in prose.
        fail_to_pass: Test ids that the solution makes pass; `FAIL_TO_PASS` in files.
        pass_to_pass: Test ids that pass before and after; `PASS_TO_PASS` in files.
        version: Release of the repository.
        environment_setup_commit: Commit whose environment is used.
        created_at: When the change was proposed.
        environment: The frozen environment, as the text of an `environment.yml`; empty where there is none.
        requirements: The frozen environment as `NAME==VERSION`, as SWE-rebench has it.
        install_config: How the repository is installed and tested, as SWE-rebench has it.
        test_cmds: Commands that run the tests, as SWE-bench-Live has them.
        language: The repository's language, as SWE-bench Pro has it; empty for Python.
        docker_image: The container image with its repository and environment, as SWE-bench-Live and SWE-rebench have
            it, or `image_name` or `image`; empty where the row names none.
    """

    KEYS: ClassVar = frozenset({"instance_id", "FAIL_TO_PASS", "test_patch", "problem_statement"})
    """Keys of a record that show its format."""
    ID_KEY: ClassVar = "instance_id"
    IMAGE_FILES: ClassVar[Mapping[str, str]] = {
        "/opt/miniconda3/bin/activate": "conda() { :; }\nexport PYTEST_ADDOPTS=-rA PIP_RETRIES=0\n",
    }
    """What commands written for the published images source, where the environment is on the path already.

    In some of those images a tox.ini was edited so that pytest prints a line for each test, which is what they count.
    Nor is there a network, by which they would install once more what is installed.
    """
    FORM: ClassVar = "a SWE-bench row has instance_id, repo and test_patch"

    instance_id: RowId
    repo: Annotated[str, Field(min_length=1)]
    base_commit: Text = ""
    patch: Text = ""
    test_patch: Text
    problem_statement: str
    fail_to_pass: Ids = Field(
        validation_alias=AliasChoices("FAIL_TO_PASS", "fail_to_pass"), serialization_alias="FAIL_TO_PASS"
    )
    pass_to_pass: Ids = Field(
        default=(), validation_alias=AliasChoices("PASS_TO_PASS", "pass_to_pass"), serialization_alias="PASS_TO_PASS"
    )
    version: Text = ""
    environment_setup_commit: Text = ""
    created_at: Moment = ""
    environment: Text = ""
    requirements: Text = ""
    install_config: Annotated[InstallConfig | None, BeforeValidator(_object)] = None
    test_cmds: Words = ()
    language: Text = Field(default="", validation_alias=AliasChoices("repo_language", "language"))
    docker_image: Annotated[str, BeforeValidator(_image)] = Field(
        default="", validation_alias=AliasChoices("docker_image", "image_name", "image")
    )

    @property
    def name(self) -> str:
        """The row's id, whatever its format calls it."""
        return self.instance_id

    @property
    def repo_url(self) -> str:
        """The repository."""
        return self.repo

    @property
    def asked(self) -> str:
        """What the row asks for."""
        return self.problem_statement

    @property
    def solution(self) -> str:
        """The reference patch."""
        return self.patch

    @property
    def known_files(self) -> Mapping[str, str]:
        """Nothing: these rows hold no texts of files."""
        return {}

    def with_environment(self, text: str) -> SweRow:
        """Return the row with a frozen environment."""
        return self.model_copy(update={"environment": text})

    def task_parts(self) -> TaskParts:
        """Return environment, tests and files of the row's task.

        Raises:
            BadInput: When there is no recipe for it, or its test patch touches no tests.
        """
        if self.language.lower() not in {"", "python", "py"}:
            raise BadInput(f"its language is {quote(self.language)}: only tests of Python are run from such rows.")
        if isinstance(recipe_for(self.repo, ""), str) and not self._may_be_python():
            raise BadInput("its patches touch no file of Python: only tests of Python are run from such rows.")
        recipe = self._recipe()
        commands = self.test_cmds or (self.install_config.test_cmd if self.install_config else ())
        fail = tuple(dict.fromkeys(self.fail_to_pass))
        passing = tuple(test for test in dict.fromkeys(self.pass_to_pass) if test not in set(fail))
        tests = HiddenTests(
            fail_to_pass=fail,
            pass_to_pass=passing,
            seconds=_SECONDS,
            cwd="repository",
            runner="repository",
            reader=recipe.reader if recipe else "pytest",
            patch=_PATCH,
            files=directives(self.test_patch, recipe.reader if recipe else "pytest", (*fail, *passing)),
            arguments=recipe.arguments if recipe else pytest_arguments(commands),
        )
        files = {_PATCH: self.test_patch.encode("utf-8", "surrogatepass")}
        if recipe is None:
            environment = Environment(image=self.docker_image)
            return TaskParts("SWE-bench", environment, tests, files, ("no recipe: it can be run in its image alone",))
        environment, files[REQUIREMENTS], notes = self._environment(recipe)
        return TaskParts("SWE-bench", environment, tests, files, notes)

    def to_json(self) -> dict[str, Any]:
        """Return the row with the published keys; those that only some files have are left out where empty."""
        found = self.model_dump(mode="python", by_alias=True)
        return {key: value for key, value in found.items() if value or key not in _RARE}

    def _may_be_python(self) -> bool:
        """Whether patches or tests name a file of Python, or none at all; most data sets state no language."""
        files = _TOUCHED.findall(f"{self.test_patch}\n{self.patch}")
        named = (*files, *(name.partition("::")[0] for name in (*self.fail_to_pass, *self.pass_to_pass)))
        return not files or any(name.endswith(_PYTHON) for name in named)

    def _recipe(self) -> RepositoryRecipe | None:
        """The recipe that the row brings, or the table's; None where there is none and its image needs none."""
        if self.install_config is not None and self.docker_image and not self.install_config.release_line:
            return None
        found = recipe_for(self.repo, self.version) if self.install_config is None else self.install_config.recipe()
        if isinstance(found, str):
            if self.docker_image:
                return None
            raise BadInput(f"{found}.", _GIVE)
        return found.model_copy(update={"arguments": pytest_arguments(self.test_cmds)}) if self.test_cmds else found

    def _environment(self, recipe: RepositoryRecipe) -> tuple[Environment, bytes, tuple[str, ...]]:
        """The environment, the file of its requirements, and what is to be known of both."""
        frozen = self._frozen(recipe.python)
        wanted = frozen.python if frozen else recipe.python
        python = max(wanted, _OLDEST, key=_minor)
        notes = [] if python == wanted else [f"Python {wanted} is not offered; {python} stands in for it"]
        if recipe.version not in {"", self.version}:
            why = f"the table does not know version {self.version}" if self.version else "the row states no version"
            notes.append(f"{why}; the recipe is that of {recipe.version}")
        if frozen is None:
            notes.append("no frozen environment: versions are the table's, and the newest of the day it gives")
        else:
            if frozen.passed_over:
                notes.append(f"left out of the frozen environment: {', '.join(frozen.passed_over)}")
            notes += [f"{new} stands in for {old}, of which there is no wheel" for old, new in frozen.replaced.items()]
        pins = frozen.requirements if frozen else recipe.requires
        environment = Environment(
            python=python,
            resolve=REQUIREMENTS,
            frozen=frozen is not None,
            exclude_newer=(frozen.exclude_newer or max(self._day(), frozen.not_before)) if frozen else self._day(),
            apt=recipe.apt,
            build=recipe.commands(self.version or recipe.version or "0", python, frozen=frozen is not None),
            variables=recipe.variables,
            image=self.docker_image or published_image(self.instance_id),
        )
        return environment, "".join(f"{pin}\n" for pin in pins).encode(), tuple(notes)

    def _frozen(self, python: str) -> FrozenEnvironment | None:
        if self.requirements and self.install_config is not None:
            return read_requirements(self.requirements, python, self.environment)
        return read_environment(self.environment) if self.environment else None

    def _day(self) -> str:
        """The day until which packages count for a row that froze none: some time after its change was proposed."""
        try:
            proposed = date.fromisoformat(self.created_at[:10]) + _LATER
        except ValueError:
            return FROZEN_AT
        return max(FROZEN_AT, proposed.isoformat())


def published_image(name: str) -> str | None:
    """What SWE-bench calls the image of an instance; None where its id is none of SWE-bench's."""
    known = re.fullmatch(r"[a-z0-9][a-z0-9_.-]*__[a-z0-9_.-]+-\d+", name.lower())
    return _PUBLISHED.format(name.lower().replace("__", "_1776_")) if known else None


def _minor(python: str) -> int:
    return int(python.partition(".")[2])
