"""What the commands of a RUN line are to us: packages, folders, nothing, commands of the build, or a refusal."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from itertools import pairwise

from repoassay.interchange.build_hosts import BuildHosts

__all__ = ["ShellSteps", "read_shell", "split_commands"]

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_APT_TOOLS = frozenset({"apt-get", "apt", "aptitude"})
_LEFT_TO_US = frozenset({
    "python3", "python3-pip", "python3-venv", "python3-dev", "python3-setuptools", "python3-wheel", "python3-full",
    "python-is-python3", "python3-pytest", "python3.12", "python3.12-venv", "ca-certificates", "tmux", "asciinema",
    "sudo", "locales", "tzdata", "apt-utils", "apt-transport-https", "software-properties-common", "lsb-release",
    "bash", "coreutils", "findutils", "grep", "sed", "gawk", "mawk", "procps", "man-db", "less", "nano", "vim",
    "build-essential",
})  # fmt: skip
"""Packages whose work the task's environment or any machine does; a compiler is named by `_MEANT`."""
_MEANT = {"build-essential": ("gcc", "g++", "make"), "procps": ("procps",), "gawk": ("gawk",)}
_SERVICES = re.compile(
    r"^(postgresql|mysql|mariadb|redis|nginx|apache2|httpd|docker|openssh-server|rabbitmq|mongo|supervisor|cron$|systemd"
    r"|memcached|haproxy|postfix|dovecot|bind9|vsftpd|proftpd|samba|slapd|squid|tomcat|elasticsearch|kafka|zookeeper"
    r"|xvfb|xfce|vnc|qemu|mininet|iptables|nftables|wireguard|kubectl|minikube|grafana|prometheus$|etcd)"
    r"(?!.*-(client|tools|dev|doc)\b)"
)
_FETCHING = frozenset({"curl", "wget", "git", "npx", "yarn", "pnpm", "gem", "R", "Rscript",
                       "rustup", "opam", "lake", "conda", "mamba", "cpan", "cpanm", "composer", "add-apt-repository",
                       "apt-key", "gpg", "nvm", "bundle", "luarocks", "stack", "cabal", "ghcup", "sdk", "mvn",
                       "gradle", "dotnet", "elan", "playwright", "julia", "snap", "apt-add-repository"})  # fmt: skip
_NOTHING = frozenset({"true", ":", "set", "export", "locale-gen", "update-ca-certificates", "ldconfig", "chown",
                      "chgrp", "update-alternatives", "hash", "sync"})  # fmt: skip
_USERS = frozenset({"usermod", "passwd", "chpasswd", "su", "visudo"})
_SYSTEM = frozenset({"service", "systemctl", "nohup", "mount", "umount", "sysctl", "modprobe", "iptables", "dpkg",
                     "mknod", "setcap", "crontab", "initctl", "supervisord", "ssh-keygen", "a2enmod"})  # fmt: skip
_BUILDS = frozenset({"python", "python3", "touch", "echo", "printf", "cp", "mv", "rm", "cat", "sed", "awk", "tr", "tar",
                     "unzip", "zip", "gzip", "gunzip", "chmod", "cd", "head", "tail", "seq", "sort", "tee", "dd",
                     "truncate", "sqlite3", "jq", "gcc", "g++", "cc", "make", "cmake", "openssl", "base64", "mkdir",
                     "ln", "install", "find", "xxd", "sha256sum", "md5sum", "for", "if", "bash", "sh", "(", "{", "test",
                     "[", "split", "rmdir", "ls", "which", "npm", "cmp", "diff", "wc", "pwd", "whoami", "uname", "env",
                     "patch", "yes", "node", "java", "javac", "bzip2", "xz", "date", "go", "cargo", "rustc",
                     "cobc", "gfortran", "perl", "ruby", "php", "lua", "ghc", "clang", "clang++", "ar", "strip", "nasm",
                     "ld", "as", "objcopy", "expr", "comm", "cut", "uniq", "paste", "join", "stat", "file", "basename",
                     "dirname", "readlink", "mktemp", "nproc", "timeout", "xargs", "cpio", "zstd", "lz4", "gpgconf",
                     "dos2unix", "iconv", "bc", "shuf", "od", "hexdump", "strings", "objdump",
                     "terraform", "autoreconf", "autoconf", "automake", "libtoolize", "ninja",
                     "meson", "protoc", "kotlinc", "scalac",
                     "readelf"})  # fmt: skip

_FETCHED = re.compile(
    r"(?<![\w./-])(curl|wget|git clone|pip3? install|apt-get|go get|cargo (add|install)|npx playwright)(?=\s|$)"
)


_TOOL_CHAINS = ((re.compile(r"(golang\.org|go\.dev)/dl/go.*tar [^&;]*-C /usr/local", re.DOTALL), ("golang-go",)),)
"""Lines that do nothing but install a tool chain, and the Debian packages that hold it."""


@dataclass(slots=True)
class ShellSteps:
    """What RUN lines come to.

    Attributes:
        apt: Debian packages.
        pip: Requirements as pip takes them; one that begins with `-r ` is a file of the image.
        folders: Absolute or relative paths of folders that are made.
        build: Commands as they stand, joined where they belong together.
        venvs: Paths of Python environments that are made, which the task's own environment stands for.
        users: Accounts that are made.
        git: Whether a git repository is worked on.
    """

    apt: list[str] = field(default_factory=list)
    pip: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    build: list[str] = field(default_factory=list)
    venvs: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    git: bool = False


def read_shell(text: str, hosts: BuildHosts | None = None) -> ShellSteps:
    """Read one RUN line.

    Args:
        text: The line.
        hosts: What a build may fetch from; nothing without.

    Raises:
        ValueError: It does something that is not understood; the sentence is the same for all that do so.
    """
    steps = ShellSteps()
    for pattern, packages in _TOOL_CHAINS:
        if pattern.search(text) and not (hosts is not None and hosts.reaches(text)):
            steps.apt += packages
            return steps
    kept = [_without_logs(command) for command in split_commands(text) if not _understood(command, steps, hosts)]
    # A change of folder alone does nothing.
    if any(not command.startswith("cd ") for command in kept):
        steps.build.append(
            re.sub(r"\bnpm (install|i) (-g|--global)\b", "npm install --global --prefix /env", " && ".join(kept))
        )
    return steps


def _without_logs(command: str) -> str:
    """A change of modes without the folders of Harbor's own, which are made when the tests run."""
    return re.sub(r"\s/(logs|tests)(/[\w./-]*)?(?=\s|$)", "", command) if command.startswith("chmod ") else command


def split_commands(text: str) -> list[str]:
    """Split at `&&`, `;` and line ends outside quotes and brackets; compound commands and heredocs stay whole.

    Raises:
        ValueError: A quote or bracket is not closed.
    """
    if re.search(r"(^|[;&\n]\s*)(for|while|if|case|until)\s|<<", text):
        return [text.strip()]
    found, start, depth, quote, at = [], 0, 0, "", 0
    while at < len(text):
        letter = text[at]
        if quote:
            at += letter == "\\" and quote == '"'
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "\\":
            at += 1
        elif letter in "({":
            depth += 1
        elif letter in ")}":
            depth -= 1
        elif not depth and (letter in ";\n" or text.startswith("&&", at)):
            found.append(text[start:at])
            at += letter == "&"
            start = at + 1
        at += 1
    if quote or depth > 0:
        raise ValueError("A command of its Dockerfile has a quote or bracket that is not closed.")
    return [command.strip() for command in [*found, text[start:]] if command.strip()]


def _understood(command: str, steps: ShellSteps, hosts: BuildHosts | None) -> bool:
    """Take a command for what it is; false where it stays a command of the build."""
    try:
        words = shlex.split(command.split("||", maxsplit=1)[0] if "||" in command else command)
    except ValueError as error:
        raise ValueError("A command of its Dockerfile has a quote or bracket that is not closed.") from error
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in ("sudo", "env", "exec", "time")):
        words = words[1:]
    if not words:
        return True
    program = words[0].rsplit("/", 1)[-1]
    installing = [word for word in words if not re.match(r"(\d|&)?>", word)]
    if program in ("bash", "sh") and len(words) == 3 and re.fullmatch(r"-[elux]*c", words[1]):
        inner = read_shell(words[2], hosts)
        if inner.build:  # what is to stay stays with the shell it was written for
            steps.git |= inner.git
            return _stays(command, hosts)
        for name in ("apt", "pip", "folders", "venvs", "users"):
            getattr(steps, name).extend(getattr(inner, name))
        return True
    if program in _APT_TOOLS:
        steps.apt += _apt_packages(installing)
        return True
    if pip := _pip_arguments(program, installing):
        steps.pip += _requirements(pip)
        return True
    if "sh.rustup.rs" in command and re.fullmatch(r"(curl|wget) [^|;&]*\| *(ba)?sh\b[^|;&]*", command):
        steps.apt += ["rustc", "cargo"]
        return True
    if _is_tool_chain(command, program):
        return True
    if (made := _virtual_environment(program, words)) is not None or program == "uv":
        steps.venvs += [made] if made else []
        return True
    if program in ("useradd", "adduser", "groupadd", "addgroup"):
        steps.users.append(words[-1])
        return True
    if hosts is not None and program in ("curl", "wget"):
        return _stays(command, hosts)
    if hosts is not None and program == "git" and len(words) > 1 and "config" not in words[1:3]:
        steps.git = True
        return _stays(command, hosts)
    for names, why in ((_FETCHING, f"Its Dockerfile fetches something with {program}, which builds cannot reach."),
                       (_USERS, "Its Dockerfile makes users, and a sandbox has one."),
                       (_SYSTEM, f"Its Dockerfile changes the system with {program}.")):  # fmt: skip
        if program in names and not (program == "git" and "config" in words[1:3]):
            raise ValueError(why)
    if program in _NOTHING or program == "git" or _is_of_the_system(program, words):
        return True
    if program == "mkdir" and not re.search(r"[{$*`>|]", command):
        steps.folders += [
            word
            for word in words[1:]
            if not word.startswith(("-", "/etc/apt", "/usr/share/keyrings")) and not word.isdigit()
        ]
        return True
    if program not in _BUILDS and not re.match(r"\.?/(?!usr/|bin/|sbin/)[\w./-]+$", words[0]):
        raise ValueError(f"Its Dockerfile runs {program[:40]}, which is not understood.")
    return _stays(command, hosts)


def _stays(command: str, hosts: BuildHosts | None) -> bool:
    command = hosts.check_command(command) if hosts is not None else command
    if _FETCHED.search(command):
        raise ValueError("Its Dockerfile fetches something in a compound command, which builds cannot reach.")
    return False


def _is_tool_chain(command: str, program: str) -> bool:
    """Commands that only make a package of the machine's own to be had, or show that it is there."""
    if program in ("curl", "wget"):
        return bool(re.fullmatch(r"(curl|wget) [^|;&]*(astral\.sh/uv|astral-sh/uv/releases|deb\.nodesource\.com"
                                 r"|bootstrap\.pypa\.io)[^|;&]*(\|\s*(sudo )?(-E )?(\w+=\S+ )*((ba)?sh|gpg)\b[^|;&]*)?",
                                 command))  # fmt: skip
    if program in (".", "source"):
        return bool(re.search(r"(/env|/activate|\.bashrc|\.profile)[\"']?$", command))
    if program == "rustup":
        return bool(re.match(r"rustup (--version|default|show|set|component add|toolchain list)\b", command))
    if program in ("echo", "printf") and re.search(r">\s*/etc/apt/\S+$", command):
        return "nodesource" in command
    if program == "add-apt-repository":
        return bool(re.search(r"ppa:deadsnakes/ppa|universe", command))
    return bool(re.fullmatch(r"[\w+.-]+ (--version|-version|version|-v|-V)", command))


def _virtual_environment(program: str, words: list[str]) -> str | None:
    """The folder of the Python environment that a command makes; empty without a name, None where it makes none."""
    if program == "virtualenv":
        rest = words[1:]
    elif words[1:3] == ["-m", "venv"] and re.fullmatch(r"python[\d.]*", program):
        rest = words[3:]
    elif program == "uv" and words[1:2] == ["venv"]:
        rest = words[2:]
    else:
        return None
    named = [word for before, word in pairwise(["", *rest]) if before not in ("--python", "-p", "--prompt")]
    return next((word for word in named if not word.startswith("-")), "")


def _is_of_the_system(program: str, words: list[str]) -> bool:
    """Commands about what an environment is anyway: apt's lists, names of Python, logs of the verifier."""
    targets = [word for word in words[1:] if not word.startswith("-")]
    if (
        program in ("cp", "mv", "ln", "install")
        and targets
        and re.fullmatch(r"(\S*/uvx? )+", " ".join(targets[:-1]) + " ")
    ):
        return True  # uv is on the path already
    if program == "ln":
        return any("python" in word or "pip" in word or word.startswith("/usr/local/go/") for word in targets)
    if program == "chmod" and re.search(r"\$\{?(RUSTUP|CARGO)_HOME", " ".join(targets)):
        return True
    if program in ("rm", "chmod", "find"):
        ours = ("/var/lib/apt", "/var/cache", "/root/.cache", "/logs", "/usr", "/etc/ssh", "/tests")
        places = [word for word in targets if word.startswith("/")]
        return bool(places) and all(word.startswith(ours) for word in places)
    return False


def _apt_packages(words: list[str]) -> list[str]:
    # `-o`, `-t` and `-c` of apt take a value.
    targets = [
        word for before, word in pairwise(words) if not word.startswith("-") and before not in ("-o", "-t", "-c")
    ]
    if not targets or targets[0] != "install":
        return []
    found: list[str] = []
    for word in targets[1:]:
        name = word.partition("=")[0].partition(":")[0].partition("/")[0].lower()
        if _SERVICES.match(name):
            raise ValueError(f"Its image needs the service {name[:40]}, and a sandbox runs none.")
        if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name):
            raise ValueError("Its Dockerfile installs Debian packages by something other than their names.")
        found += _MEANT.get(name, () if name in _LEFT_TO_US else (name,))
    return found


def _pip_arguments(program: str, words: list[str]) -> list[str]:
    """The words after `install` of pip or `uv pip`; empty where this is neither."""
    if re.fullmatch(r"pip[\d.]*", program):
        rest = words[1:]
    elif re.fullmatch(r"python[\d.]*", program) and words[1:3] == ["-m", "pip"]:
        rest = words[3:]
    elif program == "uv" and words[1:2] == ["pip"]:
        rest = words[2:]
    else:
        return []
    return rest[rest.index("install") + 1 :] or ["pip"] if "install" in rest else ["pip"]


_WITH_VALUE = frozenset({"--python", "-p", "--timeout", "--retries", "--default-timeout", "--target",
                         "--root-user-action", "--progress-bar", "--trusted-host", "--upgrade-strategy",
                         "--prefix"})  # fmt: skip


def _is_folder(option: list[str]) -> bool:
    """Whether an option, or what follows it, names a folder of the image and no address."""
    place = option[0].partition("=")[2] or option[-1]
    return "://" not in place and place.startswith(("/", "./"))


def _requirements(words: list[str]) -> list[str]:
    found: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-r", "--requirement"):
            found.append(f"-r {rest.pop(0) if rest else ''}")
        elif word.startswith(("--index-url", "--extra-index-url")) and "download.pytorch.org" in " ".join(
            [word, *rest[:1]]
        ):
            rest = rest if "=" in word else rest[1:]  # builds for one machine; the index in force has them for any
        elif word.startswith(("--find-links", "-f")) and "--no-index" in words and _is_folder([word, *rest[:1]]):
            rest = rest if "=" in word else rest[1:]  # of wheels that were fetched before; the index in force has them
        elif word.startswith(("--index-url", "--extra-index-url", "--find-links", "-i", "-f", "-c", "--constraint")):
            raise ValueError("Its Dockerfile installs packages from an index or file of its own.")
        elif word in ("-e", "--editable") or re.match(r"[./~]|[a-z+]+://|git\+", word):
            raise ValueError("Its Dockerfile installs a package from a folder or an address.")
        elif word.startswith("-"):
            if word in _WITH_VALUE and rest:
                rest.pop(0)
        elif word not in ("pip", "setuptools", "wheel", "uv", "pytest"):
            found.append(word)
    return found
