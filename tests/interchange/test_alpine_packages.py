"""Alpine's packages are Debian's of the same programs, where those are known."""

from __future__ import annotations

import pytest

from repoassay.interchange.shell_steps import read_shell
from repoassay.interchange.verifier_script import read_verifier


def test_packages_of_alpine_are_debians() -> None:
    steps = read_shell("apk update && apk add --no-cache -t .deps build-base python3 jq=1.7-r0 sqlite && apk del .deps")
    assert (steps.apt, steps.build) == (["gcc", "g++", "make", "jq", "sqlite3"], [])


@pytest.mark.parametrize(("name", "why"), [("nginx", "not known"), ("chromium", "not known")])
def test_a_package_whose_name_in_debian_is_not_known_is_refused(name: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_shell(f"apk add bash {name}")


def test_what_a_test_script_adds_is_the_environments() -> None:
    told = read_verifier("apk add --no-cache jq\njq . /app/x > /logs/verifier/reward.json\n", "tests/test.sh")
    assert told.apt == ["jq"] and "apk" not in told.text
