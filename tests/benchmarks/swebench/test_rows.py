"""SWE-bench's rows as task folders: the recipe, the tests that are run, and what is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from repoassay.benchmarks.swebench.recipes import nearest_version
from repoassay.benchmarks.swebench.rows import SweRow
from repoassay.errors import BadInput, Unavailable
from repoassay.formats.write_task import write_task
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import read_task
from repoassay.workspace import lay_out
from shared_data import SWEBENCH, needs_swebench
from swe_rows import PATCH, SWE, environment_of, patch_of

AS_DEVELOP = "$([ -f pyproject.toml ] || echo --config-settings=editable_mode=compat)"
INSTALL = f"{{ uv pip install {AS_DEVELOP} -e . || python -m pip install -e .; }}"


def made(**changes: Any) -> SweRow:
    return SweRow(**{**SWE, **changes})


def test_a_row_becomes_a_task_with_its_recipe(tmp_path: Path) -> None:
    task = read_task(write_task(made(), tmp_path)).task
    assert (task.id, task.title) == ("pallets__flask-1", "It is not so")
    assert task.repository.source == "git:https://github.com/pallets/flask"
    assert (task.environment.python, task.environment.exclude_newer) == ("3.11", "2024-11-01")
    assert task.environment.build[-1] == INSTALL
    assert "elif [ -f requirements/dev.txt ]" in task.environment.build[0]
    assert "Werkzeug==2.3.7\n" in (tmp_path / "pallets__flask-1/environment/requirements.in").read_text()
    tests = task.grading.tests
    assert tests is not None
    assert (tests.runner, tests.reader, tests.patch, tests.seconds) == (
        "repository",
        "pytest",
        "tests/test.patch",
        1800,
    )
    assert tests.files == ("tests/test_old.py", "tests/test_new.py")
    assert (tmp_path / "pallets__flask-1/tests/test.patch").read_text() == SWE["test_patch"]


def test_the_next_patch_release_stands_in_for_what_conda_alone_built_for_a_python() -> None:
    for python, installed in (("3.9.20", "numpy==1.19.3\nscipy==1.5.4\n"), ("3.6.13", "numpy==1.19.2\nscipy==1.5.2\n")):
        pins = f"  - numpy=1.19.2=py39hc896f84_1\n  - python={python}=h12\n  - scipy=1.5.2=py39hf56f3a7_0\n"
        parts = made(environment=f"name: t\ndependencies:\n{pins}").task_parts()
        assert parts.files["environment/requirements.in"].decode() == installed
        assert (parts.notes == ()) is (python == "3.6.13")
    assert made(environment=f"\ndependencies:\n{pins}".replace("3.6.13", "3.9.20")).task_parts().notes == (
        "numpy==1.19.3 stands in for numpy==1.19.2, of which there is no wheel",
        "scipy==1.5.4 stands in for scipy==1.5.2, of which there is no wheel",
    )


def test_a_frozen_environment_stands_in_for_the_table(tmp_path: Path) -> None:
    row = made(version="2.0").with_environment(environment_of("3.10.15"))
    parts = row.task_parts()
    assert (parts.environment.python, parts.environment.exclude_newer) == ("3.10", "2025-01-22")
    assert parts.environment.build == (INSTALL,)
    assert parts.files["environment/requirements.in"] == (
        b"importlib-metadata==4.8.1\nmatplotlib==3.3.4\nnumpy==1.25.2\npytest==7.4.0\nwheel==0.44.0\n"
    )
    assert parts.notes == ("left out of the frozen environment: pyqt",)
    assert SweRow.model_validate(row.to_json()).environment == row.environment
    assert read_task(write_task(row, tmp_path)).task.environment.python == "3.10"


def test_a_python_nobody_offers_is_replaced_and_said(tmp_path: Path) -> None:
    row = made(repo="django/django", version="2.2").with_environment(environment_of("3.5.6"))
    parts = row.task_parts()
    assert parts.environment.python == "3.6"
    assert parts.environment.build == ("python setup.py develop --no-deps",)
    assert parts.notes[0] == "Python 3.5 is not offered; 3.6 stands in for it"
    assert read_task(write_task(row, tmp_path)).task.environment.python == "3.6"


def test_django_is_asked_for_modules_and_its_ids_are_anything(tmp_path: Path) -> None:
    row = made(
        repo="django/django", version="4.2", test_patch=patch_of("tests/forms_tests/widget_tests/test_x.py"),
        fail_to_pass=("test_it (forms_tests.widget_tests.test_x.T)", "A line of a docstring, with (brackets) and ::"),
    )  # fmt: skip
    tests = read_task(write_task(row, tmp_path)).task.grading.tests
    assert tests is not None
    assert (tests.reader, tests.files) == ("django", ("forms_tests.widget_tests.test_x",))
    assert tests.fail_to_pass == row.fail_to_pass


def test_versions_of_tags_are_pretended_and_limits_are_constraints() -> None:
    build = made(repo="pytest-dev/pytest", version="7.2").task_parts().environment.build
    version = "SETUPTOOLS_SCM_PRETEND_VERSION=7.2.0"
    assert build == (f"{{ {version} {INSTALL[2:].replace('python', f'{version} python')}",)
    (limited,) = made(repo="sphinx-doc/sphinx", version="3.2").task_parts().environment.build
    assert limited.startswith("printf '%s\\n' 'Jinja2<3.0' ")
    assert f"{{ uv pip install --constraint /tmp/limits.txt {AS_DEVELOP} -e '.[test]' || " in limited
    (edited,) = made(repo="pytest-dev/pytest", version="6.3").task_parts().environment.build
    assert edited.startswith("cp -p setup.cfg setup.cfg.kept && sed -i 's/>=>=/>=/' setup.cfg && { SETUPTOOLS_SCM_")
    assert edited.endswith("; } && mv setup.cfg.kept setup.cfg")
    assert "=2022.3.0 " in made(repo="pydata/xarray", version="2022.03").task_parts().environment.build[0]


def test_what_pytest_is_asked_for() -> None:
    patch = patch_of("tests/test_a.py") + patch_of("tests/data.json") + patch_of("tests/page.html")
    gone = (
        "diff --git a/tests/test_b.py b/tests/test_b.py\ndeleted file mode 100644\n"
        "--- a/tests/test_b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
    )
    tests = made(
        test_patch=patch + gone, fail_to_pass=("tests/test_c.py::T::test[a b]", "-x.py::test"), pass_to_pass=()
    ).task_parts().tests  # fmt: skip
    assert tests.files == ("tests/test_a.py", "tests/test_c.py")


def test_a_test_counts_once_and_times_may_be_times() -> None:
    row = SweRow.model_validate(
        {
            **SWE,
            "fail_to_pass": ["a", "a"],
            "pass_to_pass": ["a", "b", "b"],
            "created_at": datetime(2025, 3, 1, tzinfo=UTC),
        }
    )
    parts = row.task_parts()
    assert (parts.tests.fail_to_pass, parts.tests.pass_to_pass) == (("a",), ("b",))
    assert parts.environment.exclude_newer == "2025-08-28"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"test_patch": "nonsense"}, "its test_patch cannot be read: There is no unified diff in the patch,"),
        ({"test_patch": SWE["test_patch"].replace("tests/test_new.py", "../x.py")}, "its test_patch cannot be read"),
        ({"test_patch": patch_of("a.json"), "fail_to_pass": ("test_x",)}, "its test_patch touches no file of tests."),
        ({"fail_to_pass": ()}, "fail_to_pass: Tuple should have at least 1 item"),
        ({"repo": "/etc"}, "no recipe: the table does not know the repository '/etc'."),
        ({"version": "main"}, "no recipe: 'main' is no version of 'pallets/flask'."),
        ({"environment": "\ndependencies:\n  - python\n"}, "'- python' as dependency 2, which fixes no version."),
        ({"environment": "\ndependencies:\n  - wheel=1=py_0\n"}, "its frozen environment names no Python 3."),
        ({"patch": ""}, "it has no solution patch."),
    ],
)
def test_swe_rows_that_cannot_be_tasks(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        write_task(made(**changes), tmp_path / "tasks")
    assert words in str(caught.value)
    assert not (tmp_path / "tasks").exists()


def test_an_unknown_version_takes_the_recipe_of_the_nearest_older_one() -> None:
    assert nearest_version("2022.10", ["0.12", "2022.09", "2023.07"]) == "2022.09"
    assert nearest_version("5.4", ["5.2", "v5.3", "6.0"]) == "v5.3"
    assert nearest_version("0.1", ["2.0", "2.1"]) == "2.0"
    assert nearest_version("main", ["2.0"]) is None
    parts = made(version="2.0.99").task_parts()
    assert any("does not know version 2.0.99" in note and "that of 2.0" in note for note in parts.notes)


def test_every_version_of_the_table_has_a_recipe() -> None:
    from repoassay.benchmarks.swebench.recipes import _table

    assert len(_table()) >= 12
    for repo, versions in _table().items():
        for version, recipe in versions.items():
            for python in (recipe.python, "3.6"):
                assert recipe.commands(version, python, frozen=False), repo


@needs_swebench
def test_every_real_row_has_a_recipe(tmp_path: Path) -> None:
    for line in (SWEBENCH / "rows.jsonl").read_text("utf-8").splitlines():
        row = SweRow.model_validate(json.loads(line))
        frozen = SWEBENCH / "environments" / f"{row.name}.yml"
        row = row.with_environment(frozen.read_text("utf-8")) if frozen.exists() else row
        assert read_task(write_task(row, tmp_path)).task.grading.tests is not None


@needs_swebench
def test_every_real_environment_is_read() -> None:
    from repoassay.benchmarks.swebench.frozen import read_environment

    for file in (SWEBENCH / "environments").glob("*.yml"):
        found = read_environment(file.read_text("utf-8"))
        assert found.exclude_newer, file
        assert len({line.partition("==")[0] for line in found.requirements}) == len(found.requirements), file


def test_patches_are_kept_as_they_are(tmp_path: Path) -> None:
    folder = write_task(made(), tmp_path)
    assert (folder / "solution/changes.diff").read_text() == PATCH


def test_a_row_names_its_image_or_has_the_published_one(tmp_path: Path) -> None:
    task = read_task(write_task(made(instance_id="Pallets__flask-1"), tmp_path)).task
    assert task.environment.image == "swebench/sweb.eval.x86_64.pallets_1776_flask-1:latest"
    for key in ("docker_image", "image_name", "image"):
        row = SweRow.model_validate({**SWE, key: "registry:5000/x/y:1"})
        assert row.task_parts().environment.image == "registry:5000/x/y:1"
        assert row.to_json()["docker_image"] == "registry:5000/x/y:1"
    assert SweRow.model_validate({**SWE, "image": {"base": 1}}).docker_image == ""
    assert made(instance_id="a b").task_parts().environment.image is None
    assert "docker_image" not in made().to_json()


@pytest.mark.parametrize("image", ["--privileged", "a b", "x\ny", "$(id)"])
def test_what_cannot_name_an_image_is_refused(image: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="image"):
        write_task(made(docker_image=image), tmp_path)


def test_without_a_recipe_a_row_can_be_run_in_its_image_alone(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    row = made(repo="a/b", docker_image="x/y:1", test_cmds=("pytest -W error",))
    folder = read_task(write_task(row, tmp_path / "tasks"))
    assert folder.task.environment.lies_in_image_alone and not made().task_parts().environment.lies_in_image_alone
    tests = folder.task.grading.tests
    assert tests is not None and (tests.reader, tests.arguments) == ("pytest", ("-W", "error"))
    with pytest.raises(Unavailable, match=r"can be run in its image alone, x/y:1"):
        lay_out(folder, None, cache, open_sandbox("namespaces", cache))
