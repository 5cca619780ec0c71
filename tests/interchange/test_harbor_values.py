"""A task.toml that Harbor's model does not take is no task, and values are read as that model reads them."""

from __future__ import annotations

import tomllib

import pytest

from interchange.test_harbor_settings import FILES, Convert, convert, taken
from repoassay.errors import BadInput
from repoassay.interchange.harbor_values import wrong_value
from repoassay.interchange.image_file import read_instructions
from repoassay.types import NetworkPolicy

__all__ = ["convert"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('[agent]\ntimeout_sec = "sixty"', "agent.timeout_sec"),
        ("[verifier]\ntimeout_sec = 1979-05-27", "verifier.timeout_sec"),
        ("environment = 3", "environment"),
        ("metadata = [1]", "metadata"),
        ("[environment]\ncpus = 1.5", "environment.cpus"),
        ("[environment]\nenv = {A = 3}", "environment.env"),
        ('[environment]\nnetwork_mode = "host"', "environment.network_mode"),
        ('[environment]\nallow_internet = "never"', "environment.allow_internet"),
        ('[verifier]\nenvironment_mode = "own"', "verifier.environment_mode"),
        ("[environment]\nhealthcheck = {command = 3}", "environment.healthcheck"),
        ("artifacts = 3", "artifacts"),
        ('[agent]\ntimeout_sec = "60.5"\nuser = 1000\n[verifier]\ntimeout_sec = true', ""),
        ('[environment]\nmemory_mb = "4096"\ncpus = 2.0\nallow_internet = "no"\nmemory = "4G"', ""),
        ('artifacts = ["/a", {source = "/b"}]\nunknown = 3\n[metadata]\nx = 1', ""),
    ],
)
def test_the_first_value_that_is_not_taken_is_named(text: str, wrong: str) -> None:
    assert wrong_value(tomllib.loads(text)) == wrong


def test_such_a_folder_is_no_task_and_the_sentence_names_the_key(convert: Convert) -> None:
    with pytest.raises(BadInput, match=r"gives agent\.timeout_sec a value that it does not take"):
        convert({"task.toml": '[agent]\ntimeout_sec = "sixty"\n'})


@pytest.mark.parametrize("said", ['"no"', "0", "false"])
def test_no_in_any_way_closes_the_network(convert: Convert, said: str) -> None:
    image = {"environment/Dockerfile": "FROM python:3.11\nRUN pip install pytest\nWORKDIR /app\n"}
    done = convert({"task.toml": f"[environment]\nallow_internet = {said}\n", **image})
    assert taken(done).network.policy is NetworkPolicy.MODEL


def test_lines_go_on_after_the_sign_that_a_directive_names() -> None:
    said = "# syntax=docker/dockerfile:1\n# escape=`\nFROM python:3.12\nRUN pip install `\n  pytest\n"
    assert [" ".join(step.rest.split()) for step in read_instructions(said)] == ["python:3.12", "pip install pytest"]
    late = "FROM python:3.12\n# escape=`\nRUN pip install \\\n  pytest\n"
    assert " ".join([*read_instructions(late)][1].rest.split()) == "pip install pytest"
    assert next(iter(read_instructions("\ufeffFROM python:3.12"))).word == "FROM"


def test_copies_of_all_but_some_and_to_nowhere_are_none(convert: Convert) -> None:
    image = FILES["environment/Dockerfile"]
    done = convert({"environment/Dockerfile": f"{image}COPY --exclude=*.md . /app/\n"})
    assert [(refusal.why, refusal.line) for refusal in done.refused] == [
        ("Its Dockerfile copies all but some files.", 3)
    ]


def test_a_copy_to_nowhere_makes_no_image(convert: Convert) -> None:
    with pytest.raises(BadInput, match="does not say where to"):
        convert({"environment/Dockerfile": f"{FILES['environment/Dockerfile']}COPY one\n"})
