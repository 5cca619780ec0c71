"""A task's compose file says more of its container than what is mounted."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.interchange.compose_file import mount_files
from repoassay.interchange.image_file import ImageRecipe, ImportRefusal


def read(place: Path, *lines: str) -> ImageRecipe:
    recipe = ImageRecipe(work="/app", variables={"LIMIT": "1"})
    mount_files("\n".join(("services:", "  main:", *(f"    {line}" for line in lines))), "compose.yaml", place, recipe)
    return recipe


@pytest.mark.parametrize(
    ("lines", "variables"),
    [
        (["environment:", "  - LIMIT=3", "  - TEST_DIR=${TEST_DIR}", "  - EMPTY="], {"LIMIT": "3", "EMPTY": ""}),
        (["environment:", "  LIMIT: 3", "  LANG: C.UTF-8", "  NOTHING:"], {"LIMIT": "3", "NOTHING": ""}),
        (["environment: ['LIMIT=${LIMIT:-4}', 'MY_LOGS_PATH=${HOST_LOGS}']"], {"LIMIT": "4"}),
    ],
)
def test_its_variables_are_those_of_agent_and_tests(
    tmp_path: Path, lines: list[str], variables: dict[str, str]
) -> None:
    assert read(tmp_path, *lines).variables == variables


def test_it_names_the_folder_to_stand_in(tmp_path: Path) -> None:
    recipe = read(tmp_path, "working_dir: /srv/data/../work")
    assert (recipe.work, recipe.folders) == ("/srv/work", ["/srv/work"])


@pytest.mark.parametrize(
    "line",
    [
        "command: ['sh', '-c', 'sleep infinity']",
        "command: tail -f /dev/null",
        "build: .",
        "build: {context: '${CONTEXT_DIR}', dockerfile: Dockerfile}",
        "stdin_open: true",
        "tmpfs:",
    ],
)
def test_what_means_nothing_is_passed_over(tmp_path: Path, line: str) -> None:
    recipe = read(tmp_path, line)
    assert (recipe.work, recipe.variables, recipe.build) == ("/app", {"LIMIT": "1"}, [])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("command: sh -c 'service cron start && sleep infinity'", "starts a program of its own"),
        ("entrypoint: ['/start.sh']", "starts a program of its own"),
        ("build: {context: ., target: debug}", "not understood"),
        ("build: {context: .., dockerfile: Dockerfile}", "not understood"),
        ("user: agent", "not understood"),
        ("env_file: .env", "not understood"),
        ("environment: ['TOKEN=${TOKEN}']", "takes a variable from the environment"),
        ("environment: ['URL=http://${HOST:-here}/']", "takes a variable from the environment"),
    ],
)
def test_what_is_not_understood_refuses_the_task(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(ImportRefusal, match=why) as refusal:
        read(tmp_path, line)
    assert refusal.value.file == "compose.yaml" and refusal.value.text
