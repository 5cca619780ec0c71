"""A package index for tests: a real web server on this machine's loopback, with packages made on the spot."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PASSWORD = "pass-7f3a"
LOGIN = f"Basic {base64.b64encode(f'me:{PASSWORD}'.encode()).decode()}"


class Index:
    """Pages by path; with `locked`, only for who knows the password."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.kinds: dict[str, str] = {}
        self.asked: list[str] = []
        self.logins: list[str | None] = []
        self.locked = False
        self.token = ""
        self.port = 0

    def add(self, project: str, name: str, content: bytes, *, digest: bool = True) -> str:
        """Put a file of a project into the index; returns its sha256."""
        found = hashlib.sha256(content).hexdigest()
        self.pages[f"/files/{name}"] = content
        fragment = f"#sha256={found}" if digest else ""
        page = self.pages.setdefault(f"/simple/{project}/", b"<!DOCTYPE html>")
        self.pages[f"/simple/{project}/"] = page + f'<a href="../../files/{name}{fragment}">{name}</a>'.encode()
        return found

    def dated(self, project: str, files: dict[str, str | None], content: bytes = b"") -> None:
        """A project's page in JSON, of files by the time each was uploaded (None: untold)."""
        told = []
        for name, uploaded in files.items():
            self.pages[f"/files/{name}"] = body = content or name.encode()
            hashes = {"sha256": hashlib.sha256(body).hexdigest()}
            told.append({"filename": name, "url": f"../../files/{name}", "hashes": hashes})
            told[-1] |= {"upload-time": uploaded} if uploaded else {}
        versions = sorted({name.split("-")[1].removesuffix(".tar.gz") for name in files})
        page = {"meta": {"api-version": "1.1"}, "name": project, "files": told, "versions": versions}
        self.pages[f"/simple/{project}/"] = json.dumps(page).encode()
        self.kinds[f"/simple/{project}/"] = "application/vnd.pypi.simple.v1+json"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/simple"

    @property
    def url_with_password(self) -> str:
        return f"http://me:{PASSWORD}@127.0.0.1:{self.port}/simple"


@contextlib.contextmanager
def serving(index: Index) -> Iterator[Index]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            index.asked.append(f"{self.command} {self.path}")
            index.logins.append(self.headers.get("Authorization"))
            body = index.pages.get(self.path)
            status = 200 if body is not None else 404
            if index.locked and self.headers.get("Authorization") != LOGIN:
                status, body = 401, b""
            self.send_response(status)
            self.send_header("Content-Type", index.kinds.get(self.path, "text/html"))
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body or b"")

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    index.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def wheel(name: str, said: str = "honest") -> bytes:
    """A package of one module, which holds `SAID`."""
    files = {
        f"{name}.py": f"SAID = {said!r}\n",
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in {**files, f"{name}-1.0.dist-info/RECORD": "".join(f"{path},,\n" for path in files)}.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return made.getvalue()


BACKEND = """
import base64, zipfile
from pathlib import Path

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    told = {}
    exec(Path("attack.py").read_text(), told)
    files = {
        "evil.py": "TOLD = " + repr(told["TOLD"]),
        "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: evil\\nVersion: 1.0\\n",
        "evil-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    record = "".join(path + ",,\\n" for path in files)
    with zipfile.ZipFile(Path(wheel_directory, "evil-1.0-py3-none-any.whl"), "w") as archive:
        for path, text in {**files, "evil-1.0.dist-info/RECORD": record}.items():
            archive.writestr(path, text)
    return "evil-1.0-py3-none-any.whl"
"""


def sdist(attack: str) -> bytes:
    """A source distribution `evil` whose build runs `attack`, which leaves what it found in `TOLD`."""
    files = {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "evil"\nversion = "1.0"\n',
        "PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
        "backend.py": BACKEND,
        "attack.py": attack,
    }
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as bundle:
        for name, text in files.items():
            member = tarfile.TarInfo(f"evil-1.0/{name}")
            member.size = len(text.encode())
            bundle.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()
