"""What the commands of a RUN line are to us: packages, folders, nothing, commands of the build, or a refusal."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from repoassay.interchange.alpine_packages import debian_packages
from repoassay.interchange.build_hosts import BuildHosts
from repoassay.interchange.image_accounts import owned_places
from repoassay.interchange.image_agents import without_agents
from repoassay.interchange.image_toolchains import ToolChain, go_tool_chain
from repoassay.interchange.pip_arguments import pip_arguments, requirements

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
_OF_MODULES = re.compile(r"(?<![\w./-])(go|cargo) (?:get|add|install)(?=\s)")
_GO = re.compile(r"(?:golang\.org|go\.dev)/dl/go(\S*).*tar [^&;]*-C /usr/local", re.DOTALL)
"""A line that does nothing but install Go."""


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
        chains: Tool chains that are installed.
        owned: Accounts, and places that are given to each; `EVERYBODY` where all may write.
        agents: Programs of code agents that would be installed.
        local: A command that installs what lies in the image, in place of the one that is being read.
    """

    apt: list[str] = field(default_factory=list)
    pip: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    build: list[str] = field(default_factory=list)
    venvs: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    git: bool = False
    chains: list[ToolChain] = field(default_factory=list)
    local: list[str] = field(default_factory=list)
    owned: list[tuple[str, list[str]]] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)


def read_shell(text: str, hosts: BuildHosts | None = None) -> ShellSteps:
    """Read one RUN line.

    Args:
        text: The line.
        hosts: Takes note of what is fetched from where; nothing may be without.

    Raises:
        ValueError: It does something that is not understood; the sentence is the same for all that do so.
    """
    steps = ShellSteps()
    if go := _GO.search(text if hosts is None else hosts.filled(text)):
        steps.chains.append(go_tool_chain(go[1]))
        text = " && ".join(part for part in split_commands(text) if re.match(r"(apt(-get)?|apk|pip3?) ", part))
    kept: list[str] = []
    commands, steps.agents = without_agents(split_commands(text))
    for command in commands:
        kept += steps.local if _understood(command, steps, hosts) else [_without_logs(command)]
        steps.local.clear()
    # A change of folder alone does nothing.
    if any(not command.startswith("cd ") for command in kept):
        steps.build.append(
            re.sub(r"\bnpm (install|i) (-g|--global)\b", "npm install --global --prefix /env", " && ".join(kept))
        )
    return steps


def _quoted(word: str) -> str:
    """A word for a shell, which still fills in what its `*` means."""
    return word if re.fullmatch(r"[\w./*+-]+", word) else shlex.quote(word)


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
    if words[:1] == ["!"]:
        words = words[1:]
    words[:1] = [word for word in [words[0].lstrip("(")] if word] if words and words[0] != "(" else words[:1]
    if not words:
        return True
    program = words[0].rsplit("/", 1)[-1]
    installing = [word for word in words if not re.match(r"(\d|&)?>", word)]
    if program in ("bash", "sh") and len(words) == 3 and re.fullmatch(r"-[elux]*c", words[1]):
        inner = read_shell(words[2], hosts)
        if inner.build:  # what is to stay stays with the shell it was written for
            steps.git |= inner.git
            return _stays(command, hosts)
        for name in ("apt", "pip", "folders", "venvs", "users", "chains", "owned"):
            getattr(steps, name).extend(getattr(inner, name))
        return True
    if program in _APT_TOOLS:
        steps.apt += _apt_packages(installing)
        return True
    if program in ("chown", "chmod") and (given := owned_places(words))[1]:
        steps.owned.append(given)
    if program == "apk":
        steps.apt += _apt_packages(["apk", "install", *debian_packages(words[1:])])
        return True
    if pip := pip_arguments(program, list(takewhile(lambda word: not word.startswith("|"), installing))):
        packages, local = requirements(pip)
        steps.pip += packages
        if local:
            steps.local.append(" ".join(["uv pip install", *map(_quoted, local)]))
        return True
    if "sh.rustup.rs" in command and re.fullmatch(
        r"(curl|wget) [^|;&]*\| *(ba)?sh\b[^|;&]*(2>&1 *)?(\| *tail [-\w ]*)?", command
    ):
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
    named = words if hosts is None else [hosts.filled(word) if hosts.knows(word) else word for word in words]
    if program == "mkdir" and not re.search(r"[{$*`>|]", " ".join(named)):
        steps.folders += [
            word
            for word in named[1:]
            if not word.startswith(("-", "/etc/apt", "/usr/share/keyrings")) and not word.isdigit()
        ]
        return True
    if program not in _BUILDS and not re.match(r"(\.?/(?!usr/|bin/|sbin/)|[\w-][\w.-]*/)[\w./-]+$", words[0]):
        raise ValueError(f"Its Dockerfile runs {program[:40]}, which is not understood.")
    return _stays(command, hosts)


def _stays(command: str, hosts: BuildHosts | None) -> bool:
    if hosts is not None:
        command = hosts.check_command(command)
        for program in sorted(set(_OF_MODULES.findall(command))):
            hosts.take_modules(program)
        command = _OF_MODULES.sub("", command)
    if _FETCHED.search(command):
        raise ValueError("Its Dockerfile fetches something in a compound command, which builds cannot reach.")
    return False


def _is_tool_chain(command: str, program: str) -> bool:
    """Commands that only make a package of the machine's own to be had, or show that it is there."""
    if program in ("curl", "wget"):
        return bool(re.fullmatch(r"(curl|wget) [^|;&]*(astral\.sh/uv|astral-sh/uv/releases|deb\.nodesource\.com"
                                 r"|bootstrap\.pypa\.io)[^|;&]*"
                                 r"(\|\s*(sudo |env )*(-E )?(\w+=\S+ )*((ba)?sh|gpg)\b[^|;&]*)?",
                                 re.split(r"\s*\|\| *(?=echo |true|:)", command)[0]))  # fmt: skip
    if program in (".", "source"):
        return bool(re.search(r"(/env|/activate|\.bashrc|\.profile)[\"']?$", command))
    if program == "rustup":
        return bool(re.match(r"rustup (--version|default|show|set|component add|toolchain list)\b", command))
    if program in ("echo", "printf") and re.search(r">\s*/etc/apt/\S+$", command):
        return "nodesource" in command
    if program == "add-apt-repository":
        return bool(re.search(r"ppa:deadsnakes/ppa|universe", command))
    shows = re.sub(r"(\s*(2>&1|[12]?>\s*/dev/null)|\s*\|\|.*)+$", "", command)
    return bool(re.fullmatch(r"[\w+.-]+( -m pytest)? (--version|-version|version|-v|-V)", shows))


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
    if program == "sed":  # where apt of the image looks for packages
        return "-i" in words and bool(targets) and targets[-1].startswith("/etc/apt/")
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
