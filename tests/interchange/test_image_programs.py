"""Commands of a Dockerfile that a build here can run are told from those that would fetch something."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import pytest

from repoassay.interchange.build_hosts import BuildHosts
from repoassay.interchange.hidden_test_text import check_tests, constant_paths, starts_servers
from repoassay.interchange.image_file import ImageRecipe, ImportRefusal
from repoassay.interchange.image_programs import check_programs, listed_packages, stand_in
from repoassay.interchange.image_recipe import read_image
from repoassay.interchange.shell_steps import read_shell

GO = "module x.org/sum\n\ngo 1.19\n"
CRATE = '[package]\nname = "sum"\n\n[dependencies]\nown = { path = "own" }\n'


def image(tmp_path: Path, run: str, **files: str) -> ImageRecipe:
    for name, text in files.items():
        (tmp_path / name.replace("_", ".")).write_text(text)
    file = tmp_path / "Dockerfile"
    file.write_text(f'FROM debian\nWORKDIR /app\nCOPY . /app/\nRUN {run}\nCMD ["serve"]\n')
    return read_image(file, tmp_path, "Dockerfile")


GO_HOSTS = ["proxy.golang.org", "sum.golang.org"]
CRATE_HOSTS = ["index.crates.io", "static.crates.io"]


def test_modules_that_need_no_others_are_built(tmp_path: Path) -> None:
    recipe = image(
        tmp_path, "go mod download && go build -o sum . && cargo build --release", go_mod=GO, Cargo_toml=CRATE
    )
    assert recipe.build == ["cd /app && go mod download && go build -o sum . && cargo build --release"]


@pytest.mark.parametrize(
    ("run", "files", "hosts"),
    [
        ("go build ./...", {"go_mod": f"{GO}require x.org/y v1.2.3\n"}, GO_HOSTS),
        ("cd src && go test ./...", {"go_mod": f"{GO}require (\n\tx.org/y v1.2.3\n)\n"}, GO_HOSTS),
        ("cargo build", {"Cargo_toml": CRATE + 'serde = "1"\n'}, CRATE_HOSTS),
        ("cargo fetch", {"Cargo_toml": "[dependencies\n"}, CRATE_HOSTS),
        ("go get x.org/y", {}, GO_HOSTS),
    ],
)
def test_where_modules_come_from_is_named(tmp_path: Path, run: str, files: dict[str, str], hosts: list[str]) -> None:
    assert list(image(tmp_path, run, **files).hosts) == hosts


@pytest.mark.parametrize("run", ["bash ./fill.sh", "/app/fill.sh"])
def test_a_program_that_fetches_refuses_the_task(tmp_path: Path, run: str) -> None:
    with pytest.raises(ImportRefusal, match="fetches something"):
        image(tmp_path, run, fill_sh="curl x.org\n")


@pytest.mark.parametrize(
    ("run", "files", "kept"),
    [
        ("go build ./...", {"go_mod": f"{GO}require x.org/y v1.2.3\n"}, "GOMODCACHE"),
        ("cargo fetch", {"Cargo_toml": CRATE + 'serde = "1"\n'}, "CARGO_HOME"),
        ("go install x.org/y@latest", {}, "GOMODCACHE"),
    ],
)
def test_modules_of_public_registries_are_kept_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str, files: dict[str, str], kept: str
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://pypi.org/simple")
    recipe = image(tmp_path, run, **files)
    assert recipe.variables[kept].startswith("/env/") and recipe.build[0].endswith(run)


def test_tool_chains_of_this_machine_stand_for_those_that_installers_fetch() -> None:
    rust = (
        "curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y --default-toolchain 1.81.0 && rustup --version"
    )
    assert read_shell(f"{rust} && chmod -R a+w $RUSTUP_HOME $CARGO_HOME").apt == ["rustc", "cargo"]
    node = (
        "mkdir -p /etc/apt/keyrings && curl -fsSL https://deb.nodesource.com/gpgkey/a.key | gpg --dearmor -o /etc/apt/k"
        " && echo 'deb https://deb.nodesource.com/node_22.x nodistro main' > /etc/apt/sources.list.d/nodesource.list"
        " && apt-get update && apt-get install -y nodejs redis-tools postgresql-client"
    )
    steps = read_shell(node)
    assert (steps.apt, steps.folders, steps.build) == (["nodejs", "redis-tools", "postgresql-client"], [], [])


@pytest.mark.parametrize("other", ["apt.releases.hashicorp.com x main", "x.org/apt stable main"])
def test_other_sources_of_packages_are_not_passed_over(other: str) -> None:
    assert read_shell(f"echo 'deb https://{other}' > /etc/apt/sources.list.d/other.list").build


def test_python_environments_are_the_tasks_own(tmp_path: Path) -> None:
    recipe = image(
        tmp_path, "python3 -m venv /opt/checks && /opt/checks/bin/pip install six==1.17.0 && . /opt/checks/bin/activate"
    )
    assert (recipe.venvs, recipe.pip, recipe.folders[-1]) == (["/opt/checks"], ["six==1.17.0"], "/opt/checks/bin")
    made = tmp_path / "made here"
    subprocess.run(["sh", "-c", stand_in(str(made))], check=True)
    said = subprocess.run([made / "bin/python", "-c", "print(6 * 7)"], check=True, capture_output=True)
    assert said.stdout == b"42\n"


def test_programs_that_are_on_the_path_already_are_not_put_there_again() -> None:
    fetched = "curl -LsSf https://astral.sh/uv/0.5.11/install.sh | sh"
    copied = "cp /root/.local/bin/uv /root/.local/bin/uvx /usr/local/bin/"
    assert read_shell(f"{fetched} && {copied} && ln -s /root/.local/bin/uv /usr/local/bin/uv").build == []
    assert read_shell("ln -s /usr/local/go/bin/go /usr/local/bin/go").build == []
    assert read_shell("cp notes.txt uv /srv/").build == ["cp notes.txt uv /srv/"]


def test_accounts_are_kept_for_whoever_looks_for_them(tmp_path: Path) -> None:
    assert image(tmp_path, "groupadd -r crew && useradd -m -u 1000 ann").users == ["crew", "ann"]


@pytest.mark.parametrize(
    "text",
    [
        "run('git', 'init', '-q')\nrun('git', 'log')\n",
        "SKIPPED = {'.git', 'node_modules'}\n",
        "SKIPPED = ('__pycache__', '.git')\n",
        'allow: ["git"]\n',
        "links = [os.readlink(each) for each in Path(f'/proc/{pid}/fd').iterdir()]\n",
        "apt-get install -y curl lsof psmisc\n",
        "if stat.S_ISDIR(os.lstat(place).st_mode):\n    raise SystemExit(1)\n",
        "own = os.stat(__file__).st_ino\n",
        "run('lsof -t -i:5000 | xargs -r kill -9')\n",
        "sys.modules['psutil'] = None\n",
        "tar --exclude='./.git' -cf all.tar .\n",
        "assert root.is_dir() and not root.is_symlink(), root\n",
        'if event in ("os.lstat", "os.path.islink", "lexists"):\n    raise RuntimeError(event)\n',
        "for root in roots:\n    if '/.git' in root or 'harness' in root:\n        continue\n",
        "for each in found:\n    if each.is_symlink() or not each.is_file():\n        continue\n",
        "if os.path.exists(out) or os.path.islink(out):\n    os.remove(out)\n",
        "def safe(path):\n    real = os.path.realpath(path)\n"
        "    if os.path.islink(path) or not (\n        real.startswith(OUT)\n    ):\n        raise ValueError\n",
        "folder = Path(f'/proc/{pid}/fd')\nfound = {\n    each.readlink()\n    for each in folder.iterdir()\n"
        "    if each.is_symlink()\n}\n",
    ],
)
def test_words_that_say_nothing_of_what_the_agent_leaves_are_passed_over(text: str) -> None:
    check_tests(text, "tests/test_outputs.py")


def test_a_path_that_is_looked_for_in_a_text_is_no_place() -> None:
    text = (
        "assert '/etc/passwd' in told and '/etc/shadow' not in told\nopen('/etc/hosts')\nassert out in ('/app/one',)\n"
    )
    assert constant_paths(text) == ["/etc/hosts", "/app/one"]


@pytest.mark.parametrize(
    "text",
    [
        "run(['git', 'log'])\n",
        "run('git log')\n",
        "Path('/app/.git')\n",
        "os.readlink('/app/now')\n",
        "if '/.git' in found:\n    raise AssertionError\n",
        "for each in found:\n    if each.is_symlink():\n        raise AssertionError\n",
        "if one.is_symlink() or not two.is_file():\n    pass\n",
        "def check(folder):\n    for each in folder:\n        if os.path.islink(each) or not known(each):\n"
        "            raise AssertionError\n",
        "assert os.path.exists(out) or os.path.islink(out)\n",
        "assert oct(os.stat(out).st_mode)[-3:] == '600' and os.stat(__file__).st_ino\n",
    ],
)
def test_repositories_and_links_that_the_agent_leaves_refuse_a_task(text: str) -> None:
    with pytest.raises(ImportRefusal, match="do not cross"):
        check_tests(text, "tests/test_outputs.py")


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("run('cd /app && python3 -m pip install --no-cache-dir -r all.txt')\n", True),
        ("run(['pip', 'install', 'x'])\n", True),
        ("# pip install x\n$ pip install x\nassert 'pip' in text\n", False),
    ],
)
def test_tests_that_install_packages_refuse_a_task(text: str, refused: bool) -> None:
    with pytest.raises(ImportRefusal, match="install packages") if refused else contextlib.nullcontext():
        check_tests(text, "tests/test_outputs.py")


SERVER = "http://127.0.0.1:8000/"


def test_tests_that_start_their_server_in_another_file_may_ask_it(tmp_path: Path) -> None:
    asks = f"from urllib.request import urlopen\n\n\ndef test_it():\n    assert urlopen('{SERVER}')\n"
    with pytest.raises(ImportRefusal, match="ask a service"):
        check_tests(asks, "tests/test_outputs.py")
    assert starts_servers(["python app.py &\nSERVER=$!\n", asks]) and not starts_servers([asks])
    check_tests(asks, "tests/test_outputs.py", server_started=True)


def test_requirements_may_begin_with_http(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("httpx==0.28.1\nhttpcore\n")
    assert listed_packages(file) == ["httpx==0.28.1", "httpcore"]
    for line in ("http://example.org/a.whl", "https://example.org/a.whl", "git+https://example.org/a", "-e ."):
        file.write_text(f"{line}\n")
        with pytest.raises(ValueError, match="more than packages"):
            listed_packages(file)


@pytest.mark.parametrize(
    ("text", "fetches"),
    [
        (f"import urllib.request\nurllib.request.urlopen('{SERVER}')\n", False),
        ("import urllib.request\nurllib.request.urlopen(sys.argv[1])\n", True),
        (f"import urllib.request\nwait('{SERVER}')\nurllib.request.urlopen('https://example.org/')\n", True),
        (f"from huggingface_hub import snapshot_download\nwait('{SERVER}')\n", True),
    ],
)
def test_a_program_that_asks_its_own_machine_fetches_nothing(tmp_path: Path, text: str, fetches: bool) -> None:
    file = tmp_path / "seed.py"
    file.write_text(text)
    with pytest.raises(ValueError, match="fetches something") if fetches else contextlib.nullcontext():
        check_programs("python3 seed.py", {"/app/seed.py": file}, lambda word: f"/app/{word}", BuildHosts({}))


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ('#!/bin/bash\nset -euo pipefail\n# as given\nexec "$@"\n', True),
        ('#!/bin/bash\nset -e\nif (( $# > 0 )); then\n    exec "$@"\nfi\nexec sleep infinity\n', True),
        ('#!/bin/sh\nif [ "$#" -gt 0 ]; then exec "$@"; fi\nserve\n', True),
        ('#!/bin/bash\nserve &\nexec "$@"\n', False),
        ("#!/bin/bash\nexec serve\n", False),
    ],
)
def test_a_program_that_passes_on_the_command_is_none_of_the_images_own(
    tmp_path: Path, text: str, passes: bool
) -> None:
    (tmp_path / "start.sh").write_text(text)
    dockerfile = tmp_path / "Dockerfile"
    dockerfile.write_text('FROM debian:12\nWORKDIR /app\nCOPY start.sh /app/start.sh\nENTRYPOINT ["/app/start.sh"]\n')
    with contextlib.nullcontext() if passes else pytest.raises(ImportRefusal, match="starts a program"):
        read_image(dockerfile, tmp_path, "Dockerfile")
