"""Images of tasks, as an engine is asked for them; a program in its place that answers shows what is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repoassay.errors import BadInput, InfraFault, NoIsolation, Unavailable
from repoassay.sandbox import (
    Cache,
    ImageEnvironment,
    Mount,
    TaskImageSandbox,
    image_environment,
    open_sandbox,
    refuse_task_images,
)
from repoassay.sandbox.protocol import Command

KNOWN = "swebench/sweb.eval.x86_64.a_1776_b-1:latest"
TOLD = [{"Id": "sha256:0123abcd", "Config": {"Env": ["PATH=/opt/bin:/bin", "TZ=Etc/UTC"]}}]
ENGINE = """#!/bin/sh
echo "$@" >> {folder}/asked
case "$1 $2" in
    "version "*) exit {version};;
    "image inspect") [ "$3" = {known} ] && cat {folder}/told && exit; echo "Error: $3: image not known" >&2; exit 125;;
    "pull "*) case "$3" in *secret*) echo "denied: who are you?" >&2; exit 1;; esac; exit 0;;
esac
exit 9
"""


class Engine:
    """A program in Podman's place, which notes what it is asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "told").write_text(json.dumps(TOLD))
        self.become(version=0)

    def become(self, *, version: int) -> None:
        program = self.folder / "podman"
        program.write_text(ENGINE.format(folder=self.folder, known=KNOWN, version=version))
        program.chmod(0o755)

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().splitlines()


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return Engine(tmp_path)


def opened(cache: Cache, template: str = "{image}") -> TaskImageSandbox:
    found = open_sandbox(f"podman@{template}", cache)
    assert isinstance(found, TaskImageSandbox)
    return found


def test_each_task_has_its_own_image(engine: Engine, cache: Cache) -> None:
    images = opened(cache)
    assert (images.name, images.named(KNOWN)) == ("podman@{image}", KNOWN)
    found = images.find(KNOWN)
    assert (found.id, found.variables) == ("0123abcd", {"PATH": "/opt/bin:/bin", "TZ": "Etc/UTC"})
    own = opened(cache, "registry.example.com:5000/team/{name}")
    assert own.named(KNOWN) == "registry.example.com:5000/team/sweb.eval.x86_64.a_1776_b-1:latest"


def test_an_image_that_is_not_there_is_named_with_the_way_to_get_it(engine: Engine, cache: Cache) -> None:
    with pytest.raises(InfraFault) as caught:
        opened(cache).find("swebench/other:latest")
    assert "does not have the image swebench/other:latest" in caught.value.message
    assert caught.value.remedy == "Get it with: podman pull docker.io/swebench/other:latest"
    assert not any(line.startswith("pull") for line in engine.asked)


def test_images_are_pulled_when_asked_for_alone_and_only_where_they_are_not_there(engine: Engine, cache: Cache) -> None:
    images = opened(cache)
    assert not images.pull_missing(KNOWN)
    assert images.pull_missing("localhost/other:1") and images.pull_missing("a/b")
    assert [line for line in engine.asked if line.startswith("pull")] == [
        "pull --quiet localhost/other:1", "pull --quiet docker.io/a/b"
    ]  # fmt: skip
    with pytest.raises(Unavailable, match=r"docker\.io/a/secret cannot be pulled: denied: who are you\?"):
        images.pull_missing("a/secret")


@pytest.mark.parametrize("template", ["{id}", "x{image", "{image}{0}", "{}"])
def test_templates_that_name_no_image_are_refused(engine: Engine, cache: Cache, template: str) -> None:
    with pytest.raises(BadInput, match="cannot be told"):
        open_sandbox(f"podman@{template}", cache)


def test_an_engine_that_does_not_answer_is_no_isolation(engine: Engine, cache: Cache) -> None:
    engine.become(version=1)
    with pytest.raises(NoIsolation, match="podman does not answer"):
        open_sandbox("podman@{image}", cache)


def test_an_environment_says_in_which_image_it_is_run(engine: Engine, cache: Cache, tmp_path: Path) -> None:
    folder = tmp_path / "environment"
    folder.mkdir()
    written = ImageEnvironment("0123abcd", KNOWN, "/testbed", "/opt/python", {"A": "1"}, ("/usr/lib/x/",))
    written.write(folder)
    assert image_environment(folder) == written and image_environment(tmp_path) is None
    assert str((folder / "bin/python").readlink()) == "/opt/python"
    with pytest.raises(InfraFault):  # the program in the engine's place runs nothing
        opened(cache).run(Command(argv=("true",), mounts=(Mount(folder, "/env"),)))
    (ran,) = [line for line in engine.asked if line.startswith("run")]
    assert "--pull=never" in ran and " 0123abcd " in ran


def test_what_belongs_to_no_task_runs_in_the_default_sandbox(engine: Engine, cache: Cache) -> None:
    done = opened(cache).run(Command(argv=("/bin/echo", "here")))
    assert done.stdout == b"here\n"
    assert not any(line.startswith("run") for line in engine.asked)


def test_whoever_looks_for_repositories_elsewhere_refuses_them(engine: Engine, cache: Cache) -> None:
    with pytest.raises(BadInput, match="A sample cannot use each task's own image"):
        refuse_task_images(opened(cache), "A sample")
    refuse_task_images(open_sandbox("namespaces", cache), "A sample")
