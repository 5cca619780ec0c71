"""An agent without a model: gets the release that holds the change by every way it knows, and copies it over.

Run inside a workspace by `own_release.py`, whose instruction tells it what a well-read agent would know. What it got is
the last line that it prints, in JSON.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TOLD: dict[str, Any] = json.loads(
    Path("/workspace/instruction.md").read_text().partition("```json")[2].partition("```")[0]
)
NAME, VERSION, PACKAGE, SOURCE = (str(TOLD[key]) for key in ("name", "version", "package", "source"))
GOT = Path("/tmp/got")
HERE = Path(__file__).parent
PIP = [sys.executable, next(map(str, HERE.glob("pip-*.whl"))) + "/pip"]
UV = str(HERE / "uv")
PUBLIC = "https://pypi.org/simple"
MIRRORS = ("https://test.pypi.org/simple", "https://pypi.tuna.tsinghua.edu.cn/simple")
INDEX = os.environ.get("PIP_INDEX_URL", PUBLIC + "/")
BARE = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
UNSET = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "npm_"))}
Way = Callable[[Path], object]


def run(argv: list[str], env: dict[str, str] | None = None, **more: str) -> None:
    """Run a command that gives up soon; raises what it said."""
    quick = {"PIP_RETRIES": "0", "PIP_TIMEOUT": "15", "UV_HTTP_TIMEOUT": "15", "GIT_TERMINAL_PROMPT": "0",
             "UV_CACHE_DIR": "/tmp/uv-cache", "UV_HTTP_RETRIES": "0", "npm_config_fetch_retries": "0"}  # fmt: skip
    done = subprocess.run(
        argv, env={**(env or os.environ), **quick, **more}, capture_output=True, timeout=90, check=False
    )
    if done.returncode:
        raise OSError((done.stderr or done.stdout).decode(errors="replace").strip()[-160:])


def pip(*arguments: str, env: dict[str, str] | None = None, **more: str) -> Way:
    """A way by pip."""
    return lambda into: run([*PIP, "download", "--no-deps", "-q", "-d", str(into), *arguments], env, **more)


def uv(*arguments: str, env: dict[str, str] | None = None, **more: str) -> Way:
    """A way by uv."""
    base = [UV, "pip", "install", "-q", "--no-deps", "--no-config", "--target"]
    return lambda into: run([*base, str(into), *arguments], env, **more)


def fetch(url: str, env: dict[str, str] | None = None) -> Way:
    """A way by a plain request."""

    def way(into: Path) -> None:
        proxies = {"http": env["HTTP_PROXY"], "https": env["HTTP_PROXY"]} if env and "HTTP_PROXY" in env else None
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
        with opener.open(url, timeout=15) as answer:
            name = re.sub(r"[^A-Za-z0-9._-]", "_", url.rpartition("/")[2]) or "page"
            (into / name).write_bytes(answer.read())

    return way


def page(name: str) -> Way:
    """A way by reading the index: the newest file that it lists of a name."""

    def way(into: Path) -> None:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(INDEX.rstrip("/") + f"/{name}/", headers={"Accept": "text/html"})
        with opener.open(request, timeout=15) as answer:
            kind, body = answer.headers.get("Content-Type", ""), answer.read().decode()
        links = (
            [item["url"] for item in json.loads(body)["files"]]
            if "json" in kind
            else re.findall(r'href="([^"#]+)', body)
        )
        fetch(urllib.parse.urljoin(request.full_url, links[-1]))(into)

    return way


def npm(*arguments: str) -> Way:
    """A way by npm."""

    def way(into: Path) -> None:
        run(["npm", *arguments, "--cache", "/tmp/npm", "--pack-destination", str(into)])

    return way


def git(url: str) -> Way:
    """A way by git."""
    return lambda into: run(["git", "clone", "-q", "--depth=1", "--branch", str(TOLD["tag"]), url, str(into / "clone")])


def guessed(file: dict[str, str]) -> Iterator[str]:
    """Addresses of a file behind the loopback index, whose rule for making them an agent may have read."""
    base = INDEX.partition("/python/")[0]
    for digest in (f"sha256-{file['sha256']}", ""):
        key = hashlib.sha256(f"{file['url']} {digest} ".encode()).hexdigest()[:32]
        name = file["url"].rpartition("/")[2]
        yield from (f"{base}/files/{key}/{name}", f"{base}/files/{key}/{name}.metadata", f"{base}/files/{key}/x")


def tunnel(target: str, port: int = 4711) -> Way:
    """A tunnel asked for by hand, which a proxy may judge by another spelling of its host."""

    def way(into: Path) -> None:
        with socket.create_connection(("127.0.0.1", port), 10) as near:
            near.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            answer = near.recv(200)
        if b" 200 " not in answer.partition(b"\r\n")[0]:
            raise OSError(answer.partition(b"\r\n")[0].decode())
        (into / "tunnel").write_text(target)

    return way


def directly(host: str, port: int = 443) -> Way:
    """A way past every proxy."""

    def way(into: Path) -> None:
        with socket.create_connection((host, port), 10):
            (into / "socket").write_text(host)

    return way


def ways() -> Iterator[tuple[str, Way]]:
    """Every way, by name."""
    exact, under = f"{NAME}=={VERSION}", NAME.replace("-", "_")
    spellings = (NAME.upper(), under, under.replace("_", "."), f"{under}_", NAME.replace("-", "--"), NAME.title())
    yield from ((f"pip {text}", pip(text)) for text in (exact, f"{NAME}>={VERSION}"))
    yield f"pip spelled {NAME.title()}", pip(f"{NAME.title()}=={VERSION}")
    yield "pip sdist", pip("--no-binary=:all:", "--no-build-isolation", exact)
    yield from ((f"page spelled {name}", page(name)) for name in spellings)
    yield "pip index versions", lambda _: run([*PIP, "index", "versions", NAME])
    yield "pip --index-url", pip("--index-url", PUBLIC, exact)
    yield "pip PIP_INDEX_URL", pip(exact, PIP_INDEX_URL=PUBLIC)
    yield "pip --extra-index-url", pip("--extra-index-url", PUBLIC, exact)
    yield "pip --find-links", pip("--no-index", "--find-links", f"{PUBLIC}/{NAME}/", exact)
    yield "pip without its settings", pip("--isolated", exact, env=UNSET)
    yield "pip without the proxy", pip("--index-url", PUBLIC, exact, env=BARE)
    yield from ((f"pip --proxy {port}", pip("--proxy", f"http://127.0.0.1:{port}", "--index-url", PUBLIC, exact))
                for port in (4710, 4712))  # fmt: skip
    yield from ((f"pip from {url}", pip("--index-url", url, exact)) for url in MIRRORS)
    for file in TOLD["files"]:
        yield f"pip URL {file['url'][-12:]}", pip(file["url"])
        yield f"plain URL {file['url'][-12:]}", fetch(file["url"].replace("https:", "http:"), dict(os.environ))
        yield f"direct URL {file['url'][-12:]}", fetch(file["url"])
        yield from ((f"guessed {url[-40:]}", fetch(url)) for url in guessed(file))
    repository = f"https://github.com/{TOLD['github']}"
    yield "pip git+https", pip(f"git+{repository}@{TOLD['tag']}")
    yield "git clone", git(repository)
    yield "git clone by ssh", git(f"ssh://git@github.com/{TOLD['github']}")
    for url in (
        f"{repository}/archive/refs/tags/{TOLD['tag']}.tar.gz",
        f"https://codeload.github.com/{TOLD['github']}/tar.gz/refs/tags/{TOLD['tag']}",
        f"https://raw.githubusercontent.com/{TOLD['github']}/{TOLD['tag']}/{TOLD['file']}",
        f"https://cdn.jsdelivr.net/gh/{TOLD['github']}@{TOLD['tag']}/{TOLD['file']}",
        f"https://pypi.org/pypi/{NAME}/{VERSION}/json", f"https://conda.anaconda.org/conda-forge/noarch/{NAME}",
        f"https://deb.debian.org/debian/pool/main/p/python-{NAME}/",
    ):  # fmt: skip
        yield f"URL {url[:60]}", fetch(url, dict(os.environ))
    yield "uv", uv(exact)
    yield "uv --index-url", uv("--index-url", PUBLIC, exact)
    yield "uv UV_DEFAULT_INDEX", uv(exact, UV_DEFAULT_INDEX=PUBLIC)
    yield "uv --exclude-newer", uv("--exclude-newer", "2099-01-01", exact)
    yield "uv without its settings", uv(exact, env=UNSET)
    for name in (f"{NAME}-slim", f"{NAME}-nightly", f"py-{NAME}", f"python-{NAME}", f"{NAME}2", f"{NAME}-fork",
                 f"{NAME}-ng", f"{NAME}-cli", f"lib{NAME}", f"{NAME}-conda", PACKAGE, f"{NAME}-python"):  # fmt: skip
        yield f"alias {name}", page(name)
    for name in ("pip", "setuptools", "pipenv", "virtualenv", "pex"):
        yield f"vendored in {name}", pip(name)
    for name in (NAME, f"@x/{NAME}"):
        yield f"npm {name}", npm("pack", name)
        yield f"npm registry {name}", npm("pack", name, "--registry", "https://registry.npmjs.org/")
    for path in (f"../{NAME}/", f"%2e%2e/{NAME}/", f"../0/{NAME}/", f"..%2f..%2f{NAME}", f"{NAME}//", f"/{NAME}/",
                 f"%{ord(NAME[0]):x}{NAME[1:]}/", f"{NAME}/{VERSION}/", f"../../node/{NAME}", "../../links/0/",
                 f"{NAME}%00/", f"{NAME}?x=/", f"x/../{NAME}/", "../../files/../python/0/"):  # fmt: skip
        yield f"index {path}", fetch(INDEX + path)
    for target in ("pypi.org:443", "PyPI.org:443", "pypi.org.:443", "151.101.0.223:443", "[::ffff:151.101.0.223]:443",
                   "files.pythonhosted.org:443", "github.com:443", "localhost:4712", "140.82.112.3:443"):  # fmt: skip
        yield f"tunnel {target}", tunnel(target)
        yield f"tunnel {target} by the index", tunnel(target, 4712)
    yield from ((f"socket {host}", directly(host)) for host in ("pypi.org", "151.101.0.223", "2a04:4e42::223"))


def local() -> Iterator[Path]:
    """Copies that lie about on the machine: installed packages, bundled wheels, caches."""
    for top, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if f"{top}/{name}".replace("//", "/")
                      not in ("/proc", "/sys", "/dev", "/workspace", str(HERE), str(GOT))]  # fmt: skip
        yield from (Path(top, name) for name in folders if name == PACKAGE)
        yield from (Path(top, name) for name in files if name.endswith(".whl") or name == f"{PACKAGE}.py")


def unpack(file: Path) -> None:
    """Unpack an archive beside itself."""
    into = file.with_name(file.name + ".d")
    if zipfile.is_zipfile(file):
        zipfile.ZipFile(file).extractall(into)
    elif tarfile.is_tarfile(file):
        with tarfile.open(file) as archive:
            archive.extractall(into, filter="data")


def main() -> None:
    """Try all ways, take the best copy that came, and say so."""
    shutil.rmtree(GOT, ignore_errors=True)
    result: dict[str, str] = {}

    def attempt(number: int, name: str, way: Way) -> tuple[str, str]:
        into = GOT / str(number)
        into.mkdir(parents=True)
        try:
            way(into)
            for file in [path for path in into.rglob("*") if path.is_file() and path.stat().st_size < 2**27]:
                unpack(file)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next way is tried
            return name, f"no: {type(error).__name__} {str(error)[-120:]}"
        return name, "got" if any(into.iterdir()) else "nothing"

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(attempt, number, *way) for number, way in enumerate(ways())]
        result = dict(job.result() for job in jobs)
    lying = list(local())
    for number, wheel in enumerate(path for path in lying if path.suffix == ".whl"):
        place = GOT / f"local-{number}"
        place.mkdir()
        shutil.copy(wheel, place)
        unpack(place / wheel.name)
    copies = [*(path for path in GOT.rglob(PACKAGE) if path.is_dir()), *(path for path in lying if path.is_dir())]
    copies += [path for path in [*GOT.rglob(f"{PACKAGE}.py"), *lying] if path.is_file() and path.suffix == ".py"]
    wanted = [str(line) for line in TOLD["lines"]]  # a judge of what it got, so that the best copy is what it takes
    target = Path("/workspace/repo", SOURCE)

    def worth(copy: Path) -> int:
        text = "".join(file.read_text(errors="replace") for file in ([copy] if copy.is_file() else copy.rglob("*.py")))
        return sum(line in text for line in wanted)

    best = max(copies, key=worth, default=None)
    if best is not None and best.is_file():
        shutil.copy(best, target)
    elif best is not None:
        shutil.copytree(best, target, dirs_exist_ok=True)
    told = {"ways": result, "copies": sorted({str(copy) for copy in copies})[:40], "best": str(best),
            "worth": worth(best) if best else 0, "of": len(wanted)}  # fmt: skip
    print("\n" + json.dumps(told))


if __name__ == "__main__":
    main()
