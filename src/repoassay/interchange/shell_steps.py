"""What the commands of a RUN line are to us: packages, folders, nothing, commands of the build, or a refusal."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from repoassay.interchange.alpine_packages import debian_packages
from repoassay.interchange.apt_packages import apt_packages
from repoassay.interchange.build_hosts import BuildHosts
from repoassay.interchange.image_accounts import owned_places
from repoassay.interchange.image_agents import without_agents
from repoassay.interchange.image_toolchains import ToolChain, chain_packages, go_tool_chain, is_tool_chain
from repoassay.interchange.pip_arguments import pip_arguments, requirements
from repoassay.interchange.shell_text import (
    alternatives,
    has_body,
    heading,
    inner_of,
    is_compound_command,
    shell_words,
    split_commands,
)

__all__ = ["ShellSteps", "read_shell"]

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_APT_TOOLS = frozenset({"apt-get", "apt", "aptitude"})
_FETCHING = frozenset({"curl", "wget", "git", "npx", "yarn", "pnpm", "gem", "R", "Rscript",
                       "rustup", "opam", "lake", "conda", "mamba", "cpan", "cpanm", "composer", "add-apt-repository",
                       "apt-key", "gpg", "bundle", "luarocks", "stack", "cabal", "ghcup", "sdk", "mvn",
                       "gradle", "dotnet", "elan", "playwright", "julia", "snap", "apt-add-repository"})  # fmt: skip
_NOTHING = frozenset({"true", ":", "set", "locale-gen", "update-ca-certificates", "ldconfig", "chown",
                      "chgrp", "update-alternatives", "hash", "sync"})  # fmt: skip
_USERS = frozenset({"usermod", "passwd", "chpasswd", "su", "visudo"})
_SYSTEM = frozenset({"service", "systemctl", "nohup", "mount", "umount", "sysctl", "modprobe", "iptables", "dpkg",
                     "mknod", "setcap", "crontab", "initctl", "supervisord", "ssh-keygen", "a2enmod"})  # fmt: skip
_BUILDS = frozenset({"python", "python3", "touch", "echo", "printf", "cp", "mv", "rm", "cat", "sed", "awk", "tr", "tar",
                     "unzip", "zip", "gzip", "gunzip", "chmod", "cd", "head", "tail", "seq", "sort", "tee", "dd",
                     "truncate", "sqlite3", "jq", "gcc", "g++", "cc", "make", "cmake", "openssl", "base64", "mkdir",
                     "ln", "install", "find", "xxd", "sha256sum", "md5sum", "bash", "sh", "test", "export", "command",
                     "[", "[[", "split", "rmdir", "ls", "which", "npm", "cmp", "diff", "wc", "pwd", "whoami", "uname",
                     "env", "patch", "yes", "node", "java", "javac", "bzip2", "xz", "date", "go", "cargo", "rustc",
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
_SCRIPT = re.compile(r"<<-?\s*([\"']?)(\w+)\1[ ]*\n(?P<body>.*)\n\2\s*", re.DOTALL)
"""A RUN whose commands are a heredoc."""
_OF_THE_IMAGE = re.compile(r"(\.?/(?!usr/(?!local/)|bin/|sbin/)|[\w-][\w.-]*/)[\w./-]+$")
"""A program that an image brings itself."""
_ASKS_FOR = re.compile(r"(command -v|which|type|hash) [\w.+-]+(\s*(&|\d)?>\s*(/dev/null|&1))*$")
"""Asks whether a program is there; what follows `||` brings it."""


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
        where: The folder that a line has changed to; empty in the one that it begins in.
        functions: Names that it defines.
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
    where: str = ""
    functions: list[str] = field(default_factory=list)

    def take(self, other: ShellSteps) -> None:
        """Add what other lines come to, but for commands of the build."""
        for name in ("apt", "pip", "folders", "venvs", "users", "chains", "owned", "agents"):
            getattr(self, name).extend(getattr(other, name))
        self.git |= other.git


def read_shell(text: str, hosts: BuildHosts | None = None, where: str = "") -> ShellSteps:
    """Read one RUN line.

    Args:
        text: The line.
        hosts: Takes note of what is fetched from where; nothing may be without.
        where: The folder that it begins in, from the one of the image.

    Raises:
        ValueError: It does something that is not understood; the sentence is the same for all that do so.
    """
    steps = ShellSteps(where=where)
    if script := _SCRIPT.fullmatch(text):
        text = script["body"]
    if go := _GO.search(text if hosts is None else hosts.filled(text)):
        steps.chains.append(go_tool_chain(go[1]))
        text = " && ".join(part for part in split_commands(text) if re.match(r"(apt(-get)?|apk|pip3?) ", part))
    kept: list[str] = []
    commands, steps.agents = without_agents(split_commands(text))
    for command in commands:
        kept += steps.local if _understood(command, steps, hosts) else [_without_logs(command)]
        steps.local.clear()
        steps.where = _after(command, steps.where)
    if not all(map(_sets_up, kept)):
        joined = " && ".join(f"{{ {command}\n}}" if has_body(command) else command for command in kept)
        steps.build.append(re.sub(r"\bnpm (install|i) (-g|--global)\b", "npm install --global --prefix /env", joined))
    return steps


def _sets_up(command: str) -> bool:
    """Whether a command does nothing by itself: a change of folder, or a variable."""
    if command.startswith(("cd ", "export ")):
        return True
    return not is_compound_command(command) and all(map(_ASSIGNMENT.match, shell_words(heading(command))))


def _after(command: str, where: str) -> str:
    """The folder that a line is in after a command."""
    match = re.fullmatch(r"cd ([\"']?)([^\s\"'|&;-][^\s\"'|&;]*)\1(\s*\|\|.*)?", command)
    return _below(where, match[2]) if match else where


def _below(where: str, path: str) -> str:
    return path if path.startswith(("/", "$", "~")) or not where else f"{where}/{path}"


def _quoted(word: str) -> str:
    """A word for a shell, which still fills in what its `*` means."""
    return word if re.fullmatch(r"[\w./*+-]+", word) else shlex.quote(word)


def _without_logs(command: str) -> str:
    """A change of modes without the folders of Harbor's own, which are made when the tests run."""
    return re.sub(r"\s/(logs|tests)(/[\w./-]*)?(?=\s|$)", "", command) if command.startswith("chmod ") else command


def _understood(command: str, steps: ShellSteps, hosts: BuildHosts | None) -> bool:
    """Take a command for what it is; false where it stays a command of the build."""
    first, *others = alternatives(command)
    if others and _ASKS_FOR.match(first):
        return _understood(" || ".join(others), steps, hosts)
    if is_compound_command(first):
        steps.functions += re.findall(r"^(?:function\s+)?([\w.-]+)\s*(?:\(\)|\{)", first)
        return _in_brackets(first, steps, hosts, alone=not others) or _stays(command, hosts)
    words = shell_words(heading(first))
    if words and all(map(_ASSIGNMENT.match, words)):
        for word in words:
            if hosts is not None:
                hosts.assign(*word.split("=", 1))
        return _stays(command, hosts)
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in ("sudo", "env", "exec", "time")):
        words = words[1:]
    if words[:1] == ["!"]:
        words = words[1:]
    if not words:
        return True
    program = words[0].rsplit("/", 1)[-1]
    for take in (_of_a_shell, _installed):
        if (taken := take(program, words, command, steps, hosts)) is not None:
            return taken
    return _worked(program, words, command, steps, hosts)


def _of_a_shell(
    program: str, words: list[str], command: str, steps: ShellSteps, hosts: BuildHosts | None
) -> bool | None:
    """Take what another shell is given; None where the command starts none."""
    if program in ("bash", "sh") and len(words) == 3 and re.fullmatch(r"-[elux]*c", words[1]):
        inner = read_shell(words[2], hosts, steps.where)
        if inner.build:  # what is to stay stays with the shell it was written for
            steps.git |= inner.git
            return _stays(command, hosts)
        steps.take(inner)
        return True
    if program in ("su", "runuser") and "-c" in words[:-1]:  # whoever builds is one account
        steps.local.append(f"bash -c {shlex.quote(words[words.index('-c') + 1])}")
        return not _stays(steps.local[-1], hosts)
    return None


def _installed(
    program: str, words: list[str], command: str, steps: ShellSteps, hosts: BuildHosts | None
) -> bool | None:
    """Take what brings packages, tool chains or an environment; None where the command brings none."""
    installing = [word for word in words if not re.match(r"(\d|&)?>", word)]
    if program in _APT_TOOLS:
        steps.apt += apt_packages(installing if hosts is None else hosts.filled_words(installing))
        return True
    if program == "apk":
        steps.apt += apt_packages(["apk", "install", *debian_packages(words[1:])])
        return True
    if pip := pip_arguments(program, list(takewhile(lambda word: not word.startswith("|"), installing))):
        packages, local = requirements(pip)
        steps.pip += [f"-r {_below(steps.where, name[3:])}" if name.startswith("-r ") else name for name in packages]
        if local:
            steps.local.append(" ".join(["uv pip install", *map(_quoted, local)]))
        return True
    if packages_of_chain := chain_packages(command):
        steps.apt += packages_of_chain
        return True
    if is_tool_chain(command, program):
        return True
    if (folder := _virtual_environment(program, words)) is not None or program == "uv":
        steps.venvs += [folder] if folder else []
        return True
    return None


def _worked(program: str, words: list[str], command: str, steps: ShellSteps, hosts: BuildHosts | None) -> bool:
    """Take what makes accounts and folders, fetches, or does nothing here; false for work of the build."""
    if program in ("chown", "chmod") and (owners := owned_places(words))[1]:
        steps.owned.append(owners)
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
    named = words if hosts is None else hosts.filled_words(words)
    if program == "mkdir" and not re.search(r"[{$*`>|]", " ".join([*named, steps.where])):
        steps.folders += [
            _below(steps.where, word)
            for word in named[1:]
            if not word.startswith(("-", "/etc/apt", "/usr/share/keyrings")) and not word.isdigit()
        ]
        return True
    if program not in {*_BUILDS, *steps.functions} and not _OF_THE_IMAGE.match(words[0]):
        raise ValueError(f"Its Dockerfile runs {program[:40]}, which is not understood.")
    return _stays(command, hosts)


def _in_brackets(command: str, steps: ShellSteps, hosts: BuildHosts | None, *, alone: bool) -> bool:
    """Take several commands in brackets as if they stood without; false where they stay as they are."""
    inner = inner_of(command)
    if inner is None:
        return False
    read = read_shell(inner, hosts, steps.where)
    if read.build and not alone:
        return False
    steps.take(read)
    steps.local += [f"( {built} )" for built in read.build]
    return True


def _stays(command: str, hosts: BuildHosts | None) -> bool:
    if hosts is not None:
        command = hosts.check_command(command)
        for program in sorted(set(_OF_MODULES.findall(command))):
            hosts.take_modules(program)
        command = _OF_MODULES.sub("", command)
    if _FETCHED.search(command):
        raise ValueError("Its Dockerfile fetches something in a compound command, which builds cannot reach.")
    return False


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
        there = re.fullmatch(r"\$\((?:which|command -v) ([\w.-]+)\) \S*/bin/([\w.-]*)", " ".join(targets))
        own = any("python" in word or "pip" in word or word.startswith("/usr/local/go/") for word in targets)
        return own or bool(there and there[2] in ("", there[1]))
    if program == "chmod" and re.search(r"\$\{?(RUSTUP|CARGO)_HOME", " ".join(targets)):
        return True
    if program == "sed":  # where apt of the image looks for packages
        return "-i" in words and bool(targets) and targets[-1].startswith("/etc/apt/")
    if program in ("rm", "chmod", "find"):
        ours = ("/var/lib/apt", "/var/cache", "/root/.cache", "/logs", "/usr", "/etc/ssh", "/tests")
        places = [word for word in targets if word.startswith("/")]
        return bool(places) and all(word.startswith(ours) for word in places)
    return False
