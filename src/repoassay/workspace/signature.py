"""Signatures of files by `ssh-keygen -Y`: keys that people have already, checked without anything of ours."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from repoassay.errors import BadInput, InfraFault, Unavailable
from repoassay.text import printable

__all__ = ["NAMESPACE", "check_signature", "sign_file"]

NAMESPACE = "repoassay-release"
"""What signatures are for; one made for something else does not count."""
_SECONDS = 60


def sign_file(path: Path, key: Path) -> Path:
    """Sign a file with a private key (ed25519, or what ssh-keygen takes) and return the signature, `PATH.sig`.

    Raises:
        BadInput: When the key cannot be used.
        Unavailable: When this machine has no ssh-keygen.
    """
    signature = path.with_name(f"{path.name}.sig")
    signature.unlink(missing_ok=True)
    if not key.is_file():
        raise BadInput(f"There is no key {printable(str(key), 300)}.", "Make one: ssh-keygen -t ed25519 -f KEY.")
    done = _run("sign", "-f", str(key.resolve()), "-n", NAMESPACE, str(path.resolve()))
    if done.returncode or not signature.is_file():
        raise BadInput(
            f"{key.name} does not sign: {printable(done.stderr.decode(errors='replace').strip(), 300)}.",
            "Give a private key without a passphrase, or one of a running agent.",
        )
    return signature


def check_signature(path: Path, signers: Path, who: str) -> bool:
    """Whether `PATH.sig` is of somebody whom a file of allowed signers names (`NAME ssh-ed25519 AAAA...` a line).

    Raises:
        BadInput: When there is no signature or no such file.
        Unavailable: When this machine has no ssh-keygen.
    """
    signature = path.with_name(f"{path.name}.sig")
    if not signature.is_file():
        raise BadInput(f"{printable(str(path), 300)} is not signed.", "Release it with --key FILE.")
    if not signers.is_file():
        raise BadInput(f"There is no file {printable(str(signers), 300)}.", "Write NAME and the public key on a line.")
    arguments = ("verify", "-f", str(signers.resolve()), "-I", who, "-n", NAMESPACE, "-s", str(signature.resolve()))
    return _run(*arguments, content=path.read_bytes()).returncode == 0


def _run(*arguments: str, content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise Unavailable("This machine has no ssh-keygen, which signs releases.", "Install OpenSSH's client.")
    try:
        return subprocess.run(
            [program, "-Y", *arguments], input=content, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfraFault(f"ssh-keygen failed: {error}.") from error
