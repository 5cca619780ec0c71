"""What a repository says of its environment, for each file that may say it."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from construct.trees import project
from repoassay.construct.recipe.declarations import dependencies, own_name, setup_arguments
from repoassay.construct.recipe.infer import EnvironmentRecipe, infer
from repoassay.construct.recipe.licence import licence_of
from repoassay.construct.recipe.python_line import choose_lines
from repoassay.construct.recipe.requirement_lines import requirement_name, sort_lines
from repoassay.construct.recipe.test_tools import pytest_options
from repoassay.construct.recipe.version import version_of_description, version_variables

LINES = tuple(f"3.{minor}" for minor in range(6, 14))
EXTRAS = "[project]\nname='a'\n[project.optional-dependencies]"
CLASS = "Programming Language :: Python :: "
DAY = datetime.date(2022, 3, 1)


def recipe(files: dict[str, str], day: datetime.date = DAY, **how: object) -> EnvironmentRecipe:
    made = infer(project(files), project(files), day, "v1.2.0-3-gabcdef0", LINES)
    return made.recipe(made.lines[0], **how)  # type: ignore[arg-type]


def asked(files: dict[str, str]) -> list[str]:
    return [line for line in recipe(files).requirements if not line.startswith("setuptools")]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, ["pytest"]),
        ({"pyproject.toml": f"{EXTRAS}\ntest=['pytest>=6','attrs']\ndocs=['furo']"},
         ["pytest>=6", "attrs"]),
        ({"pyproject.toml": f"{EXTRAS}\ndev=['a[tests]','tox']\ntests=['pytest']"},
         ["pytest"]),
        ({"pyproject.toml": "[dependency-groups]\nbase=['six']\nlint=['ruff']\n"
          "tests=['pytest',{include-group='base'}]"},
         ["pytest", "six"]),
        ({"pyproject.toml": "[tool.poetry]\nname='a'\n[tool.poetry.dev-dependencies]\npytest='^6.2'\nblack='*'"},
         ["pytest>=6.2,<7"]),
        ({"pyproject.toml": "[tool.poetry]\nname='a'\n[tool.poetry.group.test.dependencies]\n"
          "pytest={version='~7.1', extras=['x']}\nown={path='../own'}"}, ["pytest[x]>=7.1,<7.2"]),
        ({"pyproject.toml": "[tool.poetry]\nname='a'\n[tool.poetry.group.test.dependencies]\npytest='>=6 <9'\n"
          "tomli={version='^2', python='<3.11'}\nmock={version='~4', markers=\"os_name == 'nt'\", platform='linux'}\n"
          "zoneinfo={version='*', python='~3.7 || 3.8.*'}\n"
          "numpy=[{version='^1.19', python='>=3.6.1,<3.9'}, {version='^1.26', python='^3.9'}]"},
         ["pytest>=6,<9", "tomli>=2,<3; python_version < '3.11'",
          "mock>=4,<5; (os_name == 'nt') and (sys_platform == 'linux')",
          "zoneinfo; python_version >= '3.7' and python_version < '3.8' or python_full_version == '3.8.*'",
          "numpy>=1.19,<2; python_full_version >= '3.6.1' and python_version < '3.9'",
          "numpy>=1.26,<2; python_version >= '3.9' and python_version < '4'"]),
        ({"pyproject.toml": "[tool.hatch.envs.test]\ndependencies=['pytest','anyio']"}, ["pytest", "anyio"]),
        ({"pyproject.toml": "[tool.pdm.dev-dependencies]\ntest=['pytest','trio']"}, ["pytest", "trio"]),
        ({"pyproject.toml": "[project]\ndev-dependencies=['pytest','trio']"}, ["pytest", "trio"]),
        ({"pyproject.toml": "[tool.pdm.dev-dependencies]\npytest='>=6'\ntrio='*'"}, ["pytest>=6", "trio"]),
        ({"pyproject.toml": "[tool.uv]\ndev-dependencies=['pytest','mypy']"}, ["pytest"]),
        ({"pyproject.toml": "[tool.flit.metadata]\nmodule='a'\n"
          "[tool.flit.metadata.requires-extra]\ntest=['pytest','rich']"},
         ["pytest", "rich"]),
        ({"setup.cfg": "[options.extras_require]\ntests =\n  pytest\n  pytz; python_version < '4'\n"},
         ["pytest", "pytz; python_version < '4'"]),
        ({"setup.cfg": "[options.extras_require]\ntesting =\n  pytest; \\\n  # why\n    python_version > '3'\n  six\n"},
         ["pytest;  python_version > '3'", "six"]),
        ({"requirements/test.txt": "pytz>dev\npytest~=6.2\nsix>dev,>=1.0; os_name>'a'\ntrio==v1.0,!=1.1.post1\n"},
         ["pytz", "pytest~=6.2", "six>=1.0; os_name>'a'", "trio==v1.0,!=1.1.post1"]),
        ({"setup.cfg": "[options]\ntests_require = trio; six\n[options.extras_require]\ntest = pytest>=7; mock\n"},
         ["pytest>=7", "mock", "trio", "six"]),
        ({"setup.cfg": "[options.extras_require]\nbase = six\nmore =\n  %(base)s\n  trio\n"
          "test =\n  pytest\n  %(more)s\n"},
         ["pytest", "six", "trio"]),
        ({"pyproject.toml": f"{EXTRAS}\ntesting=['pytest','sphinx-pytest','sphinx-design']"},
         ["pytest", "sphinx-pytest"]),
        ({"setup.py": "from setuptools import setup\nT = ['pytest', 'mock']\nE = {'docs': ['sphinx']}\n"
          "E['test'] = T + ['six']\n"
          "setup(name='a', extras_require=E, tests_require=T)"}, ["pytest", "mock", "six"]),
        ({"requirements/tests.txt": "-r base.txt\npytest==6.2.5 --hash=sha256:aa\n",
          "requirements/base.txt": "attrs==21.4 # x\n"},
         ["attrs==21.4", "pytest==6.2.5"]),
        ({"requirements-dev.txt": "-e .[socks]\npytest>=3\nflake8\nhttps://example.org/x.whl\n"}, ["pytest>=3"]),
        ({"tox.ini": "[testenv]\ndeps =\n  pytest\n  django32: Django>=3.2\n  -r{toxinidir}/more.txt\nextras = x\n",
          "more.txt": "rich\n"}, ["pytest", "rich"]),
        ({"pyproject.toml": f"{EXTRAS}\nlinkify=['linkify-it-py']\ntesting=['pytest']",
          "tox.ini": "[testenv:py{37,310}-sphinx{4,5}]\ndeps =\n  old==1\nextras =\n  linkify\n  testing\n"
          "[testenv:py310-lint]\nextras = lint\n"}, ["linkify-it-py", "pytest"]),
        ({"noxfile.py": "import nox\n@nox.session\ndef tests(session):\n"
          "  session.install('-r', 't.txt')\n  session.install(f'x', 'six')",
          "t.txt": "pytest\n"}, ["pytest", "six"]),
        ({".github/workflows/ci.yml": "run: |\n  # pip install takes long\n  pip install -U pip pytest trio # x\n"},
         ["pytest", "trio"]),
        ({"Pipfile": "[dev-packages]\npytest = '*'\nfreezegun = '==1.1'\n"}, ["pytest", "freezegun==1.1"]),
        ({"pytest.ini": "[pytest]\naddopts = --cov=a -n auto\nasyncio_mode = auto\n"},
         ["pytest-cov", "pytest-xdist", "pytest-asyncio", "pytest"]),
    ],
)  # fmt: skip
def test_each_source_of_requirements(files: dict[str, str], expected: list[str]) -> None:
    assert sorted(asked(files)) == sorted(expected)


def test_a_lock_file_pins_what_has_no_version() -> None:
    files = {
        "pyproject.toml": "[dependency-groups]\ndev=['pytest','attrs>=20']",
        "uv.lock": "[[package]]\nname='pytest'\nversion='7.0.1'\n[[package]]\nname='attrs'\nversion='21.4.0'",
    }
    assert asked(files) == ["pytest==7.0.1", "attrs>=20"]
    assert recipe(files, with_pins=False).requirements[:2] == ("pytest", "attrs>=20")


def test_without_exact_versions_markers_stay_as_they_are() -> None:
    files = {"requirements-test.txt": "pytest==4.0\nmock==1.0; python_version == '3.8'\nsix ; os_name == 'nt'\n"}
    assert recipe(files, with_pins=False).requirements[:3] == (
        "pytest", "mock; python_version == '3.8'", "six; os_name == 'nt'",
    )  # fmt: skip


def test_extras_of_some_environments_of_tox_alone_are_left() -> None:
    tox = (
        "[testenv]\ndeps =\n    pytest\n    lint: black\nextras =\n    net, ssl\n    windows: win\n    {a,b}-c: more\n"
    )
    made = recipe({"setup.py": "setup(name='a')", "tox.ini": tox})
    assert "uv pip install -e '.[net,ssl]'" in made.build[0]


def test_variables_that_tox_sets_for_all_of_its_environments_are_set() -> None:
    tox = (
        "[testenv]\nsetenv =\n  DJANGO_SETTINGS_MODULE = tests.settings\n  DATA={toxinidir}/data\n  py38: OLD=1\n"
        "  PYTHONPATH = {toxinidir}\n  HOST = {env:HOST:localhost}\n  COVERAGE_FILE=x\n"
    )
    told = {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATA": "/workspace/repo/data"}
    assert recipe({"setup.py": "setup(name='a')", "tox.ini": tox}).variables == told
    table = "[env_run_base.set_env]\nMODE = 'strict'\nFROM = {replace='env', name='FROM'}\nNUL = \"a\\u0000\"\n"
    table += f"LONG = '{'x' * 3000}'\n"
    assert recipe({"setup.py": "setup(name='a')", "tox.toml": table}).variables == {"MODE": "strict"}
    many = "[testenv]\nsetenv =\n" + "".join(f"  A{number}=1\n" for number in range(99))
    assert len(recipe({"setup.py": "setup(name='a')", "tox.ini": many}).variables) <= 50


def test_everything_is_said_and_dated() -> None:
    files = {"pyproject.toml": "[project]\nname='a'\n[project.optional-dependencies]\ntest=['pytest','black']"}
    made = recipe(files, extra_packages=("trustme",))
    said = " ".join(made.derivation)
    assert made.exclude_newer == "2022-03-02"
    for words in (
        "extra test in pyproject.toml",
        "Left out",
        "black",
        "as of 2022-03-02",
        "trustme: tests failed without it",
    ):
        assert words in said
    assert recipe(files, with_date=False).exclude_newer is None


def test_packages_are_as_old_as_the_commit_but_not_older_than_its_python() -> None:
    tree = project({"a.py": ""})
    old = infer(tree, tree, datetime.date(2013, 1, 11), None, ["3.6"])
    for shared in (False, True):
        made = old.recipe("3.6", shared_date=shared)
        assert made.exclude_newer == "2017-06-21"
        assert "when packages knew Python 3.6, which is younger than the commit" in " ".join(made.derivation)
    later = infer(tree, tree, datetime.date(2017, 1, 2), None, ["3.6"])
    assert later.recipe("3.6").exclude_newer == "2017-01-03"
    assert later.recipe("3.6", shared_date=True).exclude_newer == "2017-01-01"


def test_a_project_is_installed_with_the_extras_that_files_name() -> None:
    made = recipe({"setup.py": "setup(name='a')", "requirements-dev.txt": "-e .[socks]\npytest\n", "src/a/x.py": ""})
    assert "uv pip install -e '.[socks]'" in made.build[0]
    assert made.path == (".", "src")
    assert "not installed" in " ".join(recipe({"a.py": ""}).derivation).lower()


def test_a_project_of_poetry_without_a_build_system_is_installed_with_poetrys() -> None:
    poetry = "[tool.poetry]\nname='a'\nversion='1'\ndescription=''\nauthors=[]\n"
    made = recipe({"pyproject.toml": poetry, "requirements-dev.txt": "-e .[socks]\npytest\n"})
    assert "poetry.core.masonry.api" in made.build[0] and "'[socks]'" in made.build[0]
    assert "sys.path[:0]" in made.build[1]
    named = recipe({"pyproject.toml": poetry + "[build-system]\nrequires=['poetry-core']\n"})
    assert "masonry" not in " ".join(named.build)


@pytest.mark.parametrize(
    ("files", "day", "line"),
    [
        ({"setup.py": f"setup(classifiers=['{CLASS}3.7','{CLASS}3.10'])"},
         DAY, "3.10"),
        ({"setup.cfg": f"[metadata]\nclassifiers =\n  {CLASS}3.8\n  {CLASS}3.11\n"},
         DAY, "3.8"),
        ({"tox.ini": "[tox]\nenvlist = py27,py{36,37},py3{8,9}\n"}, DAY, "3.9"),
        ({".github/workflows/t.yml": "python-version: ['3.6', \"3.7\"]\n"}, DAY, "3.7"),
        ({".travis.yml": "python:\n  - 3.5\n  - 3.6\n"}, DAY, "3.6"),
        ({".python-version": "3.8.12\n"}, DAY, "3.8"),
        ({"pyproject.toml": "[project]\nrequires-python='>=3.6,<3.9'"}, DAY, "3.8"),
        ({"pyproject.toml": "[tool.poetry.dependencies]\npython='^3.7'"}, DAY, "3.9"),
        ({}, datetime.date(2019, 6, 1), "3.7"),
        ({}, datetime.date(2010, 1, 1), "3.6"),
    ],
)  # fmt: skip
def test_the_release_line_that_was_declared_and_there(files: dict[str, str], day: datetime.date, line: str) -> None:
    chosen, why = choose_lines(project(files), day, LINES)
    assert chosen[0] == line
    assert f"Python {line}" in why


@pytest.mark.parametrize(
    ("described", "version"),
    [
        ("v1.2.3-0-gabc1234", "1.2.3"), ("1.2.3-7-gabc1234", "1.2.4.dev7"), ("lib-2.0-1-gabc", "2.1.dev1"),
        ("v2.0rc1-4-gabc", "2.0rc1.dev4"), ("release/21.0.0-2-gabc", "21.0.1.dev2"), ("nightly-3-gabc", None),
        ("", None), (f"{'a-' * 200}x-3-gabc", None),
    ],
)  # fmt: skip
def test_versions_of_tags(described: str, version: str | None) -> None:
    assert version_of_description(described) == version


def test_a_version_is_told_to_what_asks_version_control() -> None:
    scm = project({"pyproject.toml": "[build-system]\nrequires=['setuptools','setuptools_scm']"})
    assert version_variables(scm, "1.0-2-gabc")[0] == {"SETUPTOOLS_SCM_PRETEND_VERSION": "1.1.dev2"}
    assert version_variables(scm, None)[0] == {"SETUPTOOLS_SCM_PRETEND_VERSION": "0.1.dev0"}
    assert version_variables(project({"setup.py": "setup(version='1')"}), "1.0-2-gabc") == ({}, "")
    asks = "[tool.pdm.version]\nsource='scm'\n[build-system]\nrequires=[]\nbuild-backend='own'\n"
    assert recipe({"pyproject.toml": asks}).variables == {"PDM_BUILD_SCM_VERSION": "1.2.1.dev3"}
    own = recipe({"pyproject.toml": f"{asks}backend-path=['src']\n"})  # whose tests build projects of other versions
    assert not own.variables and own.build[0].startswith("export PDM_BUILD_SCM_VERSION=1.2.1.dev3; uv pip install")
    pbr = project({"setup.py": "setup(setup_requires=['pbr'], pbr=True)"})
    assert version_variables(pbr, "1.0-0-gabc")[0] == {"PBR_VERSION": "1.0"}


@pytest.mark.parametrize(
    ("files", "licence"),
    [
        (
            {"LICENSE": "MIT License\n\nPermission is hereby granted, free of charge,\nto any person obtaining a copy"},
            "MIT",
        ),
        ({"LICENSE.txt": "Apache License\n   Version 2.0, January 2004"}, "Apache-2.0"),
        ({"COPYING": "Redistribution and use in source and binary forms, ... Neither the name of"}, "BSD-3-Clause"),
        ({"LICENSE": "Redistribution and use in source and binary forms, with"}, "BSD-2-Clause"),
        ({"pyproject.toml": "[project]\nlicense='MIT OR Apache-2.0'"}, "MIT OR Apache-2.0"),
        ({"setup.py": "setup(classifiers=['License :: OSI Approved :: MIT License'])"}, "MIT"),
        ({"README": "MIT"}, "unknown"),
    ],
)
def test_the_licence_is_read_off_the_tree(files: dict[str, str], licence: str) -> None:
    assert licence_of(project(files))[0] == licence


def test_setup_py_is_read_and_never_run(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    source = f"open({mark!r}, 'w').write('x')\nsetup(name='Own_Name', install_requires=['six'])"
    files = {"setup.py": source}
    assert own_name(project(files)) == "own-name"
    assert dependencies(project(files)) == ["six"]
    assert "mark" not in str(setup_arguments(project(files)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text",
    ["", "[", "\0", "a = 1\n[[[", "import (", "[x]\n[x]\nb", "setup(" * 200, "x" * 2**21, "\udcff", "[tool]\npytest=3"],
)  # fmt: skip
def test_files_that_are_none_say_nothing(text: str) -> None:
    names = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "Pipfile", "uv.lock", "LICENSE",
             "requirements-test.txt", ".github/workflows/x.yml", "pytest.ini")  # fmt: skip
    clean = text.encode("utf-8", "replace").decode()
    assert "pytest" in recipe(dict.fromkeys(names, clean)).requirements
    assert licence_of(project(dict.fromkeys(names, clean)))[0] == "unknown"


def test_what_a_change_adds_to_the_dependencies_is_installed() -> None:
    before = project({"pyproject.toml": "[project]\nname='a'\ndependencies=['six']"})
    after = project({"pyproject.toml": "[project]\nname='a'\ndependencies=['six','rich>=10']"})
    made = infer(after, before, DAY, None, LINES)
    assert "rich>=10" in made.recipe("3.9").requirements


def test_lines_without_a_version_are_left() -> None:
    found = sort_lines(
        ["a @ https://x/y.whl", "-e git+https://x/y", ".", "own[a,b]", "--index-url x", "B_c.D>1 # z"], "own"
    )
    assert (found.packages, found.extras) == (["B_c.D>1"], ["a", "b"])
    assert len(found.left) == 3
    assert [requirement_name(line) for line in ("B_c.D[x]>1", "a;b", "-r x", "")] == ["b-c-d", "a", "", ""]


def test_the_first_settings_of_pytest_count() -> None:
    files = {"tox.ini": "[pytest]\ntestpaths = a\n", "setup.cfg": "[tool:pytest]\ntestpaths = b\n"}
    assert pytest_options(project(files))[:2] == ({"testpaths": "a"}, "tox.ini")
    listed = {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['-q', '--timeout=3']\ntestpaths = ['t']"}
    assert pytest_options(project(listed)) == (
        {"addopts": "-q --timeout=3", "testpaths": "t"}, "pyproject.toml", ["pytest-timeout"]
    )  # fmt: skip


def test_projects_that_it_depends_on_are_installed_from_the_same_repository() -> None:
    files = {
        "pyproject.toml": "[project]\nname='whole'\ndependencies=['part>=9','six']",
        "parts/part/setup.cfg": "[metadata]\nname = part\n[options]\ninstall_requires =\n  core\n",
        "core/pyproject.toml": "[project]\nname='core'\ndependencies=['whole']",
        "unused/pyproject.toml": "[project]\nname='unused'",
        "tests/six/pyproject.toml": "[project]\nname='six'",
    }
    assert recipe(files).build[0].startswith("uv pip install -e . -e ./core -e ./parts/part || ")
    assert recipe({"pyproject.toml": files["pyproject.toml"]}).build[0].startswith("uv pip install -e . || ")


def test_projects_that_its_requirements_for_tests_name_as_folders_are_installed_too() -> None:
    files = {
        "sdk/pyproject.toml": "[project]\nname='sdk'",
        "sdk/test-requirements.txt": "-e tests/utils\n./api[x]\n-e sdk\n-e ../gone\npytest\n-e elsewhere\n",
        "tests/utils/setup.py": "", "api/setup.cfg": "",
    }  # fmt: skip
    made = infer(project(files).below("sdk/x.py"), project(files).below("sdk/x.py"), DAY, None, ["3.9"]).recipe("3.9")
    assert made.build[0].startswith("uv pip install -e ./sdk -e ./api -e ./tests/utils || ")
    assert "Passed over, since they have no version or date: -e ../gone, -e elsewhere." in made.derivation


def test_the_nearest_project_is_the_one_that_is_installed() -> None:
    files = {"python/pyproject.toml": "[project]\nname='a'", "python/tests/test_a.py": "", "README": ""}
    assert project(files).below("python/tests/test_a.py").root == "python/"
    assert project(files).below("README").root == ""


def test_packages_of_extras_for_use_are_optional() -> None:
    extras = "toc=['python-slugify>=5']\ncode=['pygments','a[toc]']\ndev=['six']\ntest=['pytest']\ndocs=['furo']\n"
    tree = project({"pyproject.toml": f"{EXTRAS}\n{extras}all=['tox']"})
    inference = infer(tree, tree, DAY, None, LINES)
    assert inference.optional() == ("python-slugify", "pygments")
    made = inference.recipe("3.8", extra_packages=inference.optional())
    assert {"python-slugify>=5", "pygments"} < set(made.requirements)
    assert "pygments: tests failed without it, and extra code in pyproject.toml names it." in made.derivation


_NINES = "9" * 6000


@pytest.mark.parametrize(
    "files",
    [
        {"requirements-dev.txt": "-r requirements-dev.txt\n" * 300 + "six\n"},
        {"pyproject.toml": "[dependency-groups]\ng0=['six']\ntest=[{include-group='g40'}]\n" + "".join(
            f"g{number + 1}=[{{include-group='g{number}'}},{{include-group='g{number}'}}]\n" for number in range(40))},
        {"pyproject.toml": f"[project]\nname='a'\nrequires-python='>=3.{_NINES}'\n[dependency-groups]\ntest=['six']"},
        {"pyproject.toml": f"[tool.poetry.dev-dependencies]\nsix='*'\nb={{version='^{_NINES}',markers='x'}}"},
        {"pyproject.toml": f"number={_NINES}", "requirements-dev.txt": "six"},
        {"pyproject.toml": "a" + ".a" * 100_000 + "=1", "requirements-dev.txt": "six"},
        {"pyproject.toml": "[tool.tox]\nlegacy_tox_ini='none'", "requirements-dev.txt": "six"},
        {"tox.ini": f"[tox]\nenvlist=py{{3{_NINES}}}\n[testenv]\ndeps=six"},
        {"setup.py": f"a={'+'.join(['b'] * 20_000)}", "requirements-dev.txt": "six"},
        {"requirements-dev.txt": f"a{' ' * 1990}b\n" * 500 + "six"},
    ],
)  # fmt: skip
def test_files_that_mean_harm_are_read_to_their_end(files: dict[str, str]) -> None:
    """They would take for ever, any memory, or end everything by an exception."""
    assert any(requirement_name(line) == "six" for line in asked(files))


def test_names_that_are_doubled_fill_no_memory() -> None:
    doubled = "a = ['six']\n" + "a = a + a\n" * 20 + "setup(install_requires=a)\n"
    assert 1 < len(dependencies(project({"setup.py": doubled}))) <= 2**14
