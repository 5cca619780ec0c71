"""Environments of a release line: what is added to requirements, and what source distributions are built with."""

from __future__ import annotations

import pytest

from repoassay.workspace.installation import _PYTEST, _built_with


@pytest.mark.parametrize("named", ["pytest", "x\npytest>=3\n", "pytest[testing]==1.0", "pytest ; python_version>'3'"])
def test_requirements_that_name_pytest_get_no_other(named: str) -> None:
    assert _PYTEST.search(named.encode())


@pytest.mark.parametrize("named", ["", "pytest-mock==1.0\n", "# pytest is added\n", "my-pytest\n", "pytest_cov\n"])
def test_requirements_that_name_something_like_pytest_get_it(named: str) -> None:
    assert not _PYTEST.search(named.encode())


@pytest.mark.parametrize(
    ("requirements", "youngest"),
    [
        ("click\nsetuptools==75.1.0\n", "setuptools<=75.1.999"),
        ("setuptools == 38.2.4\n", "setuptools<=40.8.999"),
        ("setuptools-scm==6.0\nsetuptools>=40\n", ""),
    ],
)
def test_source_distributions_are_built_as_the_environment_would(requirements: str, youngest: str) -> None:
    assert _built_with(requirements.encode()) == youngest
