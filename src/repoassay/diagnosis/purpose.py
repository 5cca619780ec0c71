"""What a shell command is for: exploring, installing, executing, checking, changing files, fetching, handing in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from repoassay.diagnosis.patches import Authored
from repoassay.diagnosis.shell import Simple
from repoassay.diagnosis.words import words

__all__ = [
    "CommandKind",
    "authored_by",
    "install_targets",
    "kind_of",
    "paths_read",
    "script_of",
    "told_failure",
    "weightiest",
]


class CommandKind(StrEnum):
    """What an action is for."""

    READ = "read"
    INSTALL = "install"
    EDIT = "edit"
    EXECUTE = "execute"
    VERIFY = "verify"
    NETWORK = "network"
    SUBMIT = "submit"
    MESSAGE = "message"
    OTHER = "other"


_WEIGHT = (
    CommandKind.SUBMIT,
    CommandKind.EXECUTE,
    CommandKind.VERIFY,
    CommandKind.INSTALL,
    CommandKind.NETWORK,
    CommandKind.EDIT,
    CommandKind.READ,
    CommandKind.OTHER,
)
_READ = words(
    "cat head tail less more ls ll find grep egrep fgrep rg ag sed awk wc file stat tree du nl which "
    "whereis pwd env printenv cut sort uniq xxd strings jq od hexdump diff cmp md5sum sha256sum type man "
    "locate zcat unzip tar column tr open scroll_up scroll_down goto search_dir search_file find_file "
    "find_files basename dirname realpath readlink identify ffprobe mediainfo pdftotext"
)
_OTHER = words(
    "true false sleep export set source . test [ [[ echo printf date whoami id uname hostname nvidia-smi "
    "df free ps top kill pkill killall wait clear history alias exit return read for in case esac cd "
    "pushd popd ulimit nproc lscpu activate deactivate jobs fg bg trap unset local declare conda mamba "
    "let : esac break continue"
)
_EDIT = words("cp mv rm mkdir touch chmod chown ln patch tee rmdir install create edit rsync truncate dd")
_NETWORK = words("curl wget gh aria2c huggingface-cli hf modelscope gdown youtube-dl yt-dlp ping nslookup dig")
_INSTALLERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("pip", "pip3", "pipx"), frozenset({"install", "download", "wheel", "uninstall"})),
    **dict.fromkeys(("conda", "mamba", "micromamba"), frozenset({"install", "create", "env", "update"})),
    **dict.fromkeys(
        ("apt", "apt-get", "aptitude", "yum", "dnf", "apk", "brew", "pacman", "zypper"),
        frozenset({"install", "update", "add", "upgrade", "-S", "-Sy", "build-dep"}),
    ),
    **dict.fromkeys(("npm", "yarn", "pnpm", "bun"), frozenset({"install", "ci", "add", "i", "pack"})),
    **dict.fromkeys(("poetry", "pdm", "pipenv", "rye"), frozenset({"install", "add", "sync", "lock", "update"})),
    "uv": frozenset({"pip", "sync", "add", "venv", "lock"}),
    "cargo": frozenset({"install", "add", "fetch"}),
    "gem": frozenset({"install"}),
    "go": frozenset({"get", "install"}),
}
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]{0,6}$|py$")
_TESTERS = frozenset(
    {"pytest", "py.test", "tox", "nox", "nosetests", "unittest", "mypy", "ruff", "flake8", "pylint", "ctest", "jest"}
)
_CHECK = re.compile(r"\s*(?:$|import\s|from\s|print\s*\(|#|help\s*\(|sys\.|inspect\.|dir\s*\(|assert\s)")
_ASKS = frozenset({"--help", "-h", "--version", "-V"})


def kind_of(simple: Simple) -> CommandKind:
    """What one simple command is for; a command nobody knows is taken to execute something."""
    name, words = simple.name, simple.words
    if not words:
        return CommandKind.EDIT
    if name == "submit" or any("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" in word for word in words[:3]):
        return CommandKind.SUBMIT
    if _installs(name, words):
        return CommandKind.INSTALL
    if name == "str_replace_editor":
        return CommandKind.READ if "view" in words[1:2] else CommandKind.EDIT
    if name == "sed" and any(word.startswith("-i") or word == "--in-place" for word in words[1:]):
        return CommandKind.EDIT
    if name == "git":
        return _git(words)
    if name in _EDIT:
        return CommandKind.EDIT
    if name in _NETWORK:
        return CommandKind.NETWORK
    if name in _READ | {"echo", "printf"}:
        if simple.writes and simple.writes != ("1",):
            return CommandKind.EDIT
        return CommandKind.READ if name in _READ else CommandKind.OTHER
    if name in _OTHER or name in {"pip", "pip3", "npm"}:
        return CommandKind.READ if name.startswith(("pip", "npm")) else CommandKind.OTHER
    if name in _TESTERS or (name == "make" and any(word in {"test", "check", "tests", "lint"} for word in words[1:])):
        return CommandKind.VERIFY
    if not _ASKS.isdisjoint(words[1:]) and "-c" not in words:
        return CommandKind.VERIFY
    return _python(simple) if _PYTHON.match(name) else CommandKind.EXECUTE


def _installs(name: str, words: tuple[str, ...]) -> bool:
    if _PYTHON.match(name):
        rest = words[1:]
        if rest[:1] == ("-m",) and rest[1:2] in {("pip",), ("ensurepip",), ("venv",), ("virtualenv",)}:
            return rest[1] != "pip" or any(word in _INSTALLERS["pip"] for word in rest[2:5])
        return (
            len(rest) > 1 and rest[0].endswith("setup.py") and rest[1] in {"install", "develop", "build", "build_ext"}
        )
    if name == "uv":
        return len(words) > 1 and words[1] in _INSTALLERS["uv"] and words[1:3] not in {("pip", "list"), ("pip", "show")}
    verbs = _INSTALLERS.get(name)
    if name in {"make", "cmake"}:
        return "install" in words[1:]
    if name in {"virtualenv", "pyenv", "nvm"}:
        return True
    return verbs is not None and any(word in verbs for word in words[1:5])


def _git(words: tuple[str, ...]) -> CommandKind:
    rest = [word for word in words[1:] if not word.startswith("-")]
    verb = next((word for word in rest if not word.startswith("/")), "")
    if verb in {"clone", "fetch", "pull", "push", "ls-remote", "submodule", "lfs"}:
        return CommandKind.NETWORK
    if verb in {
        "apply",
        "checkout",
        "cherry-pick",
        "am",
        "reset",
        "restore",
        "revert",
        "merge",
        "stash",
        "commit",
        "add",
    }:
        return CommandKind.EDIT
    return CommandKind.READ


def _python(simple: Simple) -> CommandKind:
    words = simple.words
    code = inline_code(simple)
    if code is not None:
        statements = [part for line in code.split("\n") for part in line.split(";")]
        short = len(code) <= 600 and len(statements) <= 12
        return (
            CommandKind.VERIFY
            if short and all(_CHECK.match(part) for part in statements) and not _called(code)
            else CommandKind.EXECUTE
        )
    if (
        "-m" in words
        and words[words.index("-m") + 1 : words.index("-m") + 2]
        and words[words.index("-m") + 1] in _TESTERS
    ):
        return CommandKind.VERIFY
    if "py_compile" in words or "compileall" in words:
        return CommandKind.VERIFY
    script = script_of(simple)
    if script.rpartition("/")[2].startswith(("test_", "check_", "verify")):
        return CommandKind.VERIFY
    return CommandKind.EXECUTE


def _called(code: str) -> bool:
    """Whether a program of imports and prints prints what a call on the work gives, not a version or a word."""
    printed = code.count("print")
    return bool(printed) and bool(re.search(r"print\s{0,4}\(\s{0,4}\w[\w.]{0,80}\.\w{1,60}\([^)\s]", code))


def inline_code(simple: Simple) -> str | None:
    """The program given on the command line or as a here-document to Python; None when there is none."""
    if not _PYTHON.match(simple.name):
        return None
    for place, word in enumerate(simple.words[1:], 1):
        if word == "-c":
            return simple.words[place + 1] if place + 1 < len(simple.words) else ""
        if not word.startswith("-"):
            return None
    return simple.text or None


def script_of(simple: Simple) -> str:
    """The file or module a command executes: a script, `-m` module, or the command itself."""
    if not simple.words:
        return ""
    if not _PYTHON.match(simple.name) and simple.name not in {"bash", "sh", "node", "streamlit", "torchrun", "deno"}:
        return simple.words[0]
    skip = False
    for place, word in enumerate(simple.words[1:], 1):
        if word in {"-m"}:
            return simple.words[place + 1] if place + 1 < len(simple.words) else ""
        if word == "-c":
            return ""
        if skip or word in {"-W", "-X"}:
            skip = not skip
            continue
        if not word.startswith("-"):
            return word
    return ""


def install_targets(simple: Simple) -> tuple[str, ...]:
    """What an install command names: packages without versions and extras, lower case; paths as they are."""
    verbs = {"install", "add", "download", "i"}
    after = next((place for place, word in enumerate(simple.words) if word in verbs), None)
    if after is None:
        return ()
    names = (word[:200] for word in simple.words[after + 1 :] if not word.startswith("-"))
    return tuple(re.split(r"[=<>!~\[;@ ]", name, maxsplit=1)[0].lower().replace("_", "-") or name for name in names)


def authored_by(simple: Simple) -> Iterator[Authored]:
    """Texts a command puts into files, and programs it carries itself."""
    code = inline_code(simple)
    if code:
        yield Authored("", code)
    if simple.name == "str_replace_editor" and len(simple.words) > 2 and simple.words[1] != "view":
        options = dict(zip(simple.words[3::2], simple.words[4::2], strict=False))
        new = options.get("--file_text") or options.get("--new_str") or ""
        yield Authored(simple.words[2], new, options.get("--old_str", ""))
        return
    targets = simple.writes
    if simple.name == "tee":
        targets = (*targets, *(word for word in simple.words[1:] if not word.startswith("-")))
    if simple.name in {"cat", "tee"} and simple.text:
        for target in targets:
            yield Authored(target, simple.text)
    elif simple.name in {"echo", "printf"}:
        for target in targets:
            yield Authored(
                target, " ".join(word for word in simple.words[1:] if word not in {"-e", "-n", "-ne", "-en"})
            )
    elif simple.name in {"touch", "truncate"}:
        for word in simple.words[1:]:
            if not word.startswith("-"):
                yield Authored(word, "")
    elif simple.name == "sed" and kind_of(simple) is CommandKind.EDIT:
        plain = [word for word in simple.words[1:] if not word.startswith("-")]
        if len(plain) > 1:
            yield Authored(plain[-1], plain[0])
    elif simple.name == "rm":
        for word in simple.words[1:]:
            if not word.startswith("-"):
                yield Authored(word, "", deleted=True)


def paths_read(simple: Simple) -> Iterator[str]:
    """Files a reading command names: not the pattern of grep, nor the program of sed and awk."""
    plain = [word for word in simple.words[1:] if not word.startswith("-")]
    if simple.name in {"grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "jq"} and "-e" not in simple.words:
        plain = plain[1:]
    if simple.name == "find":
        plain = plain[:1]
        names = simple.words
        plain += [names[at + 1] for at, word in enumerate(names[:-1]) if word in {"-name", "-iname", "-path"}]
    if simple.name == "git":
        plain = [word for word in plain if "/" in word or "." in word]
    yield from plain


_EXIT = re.compile(
    r"(?:<returncode>|exit(?:ed)?[ _-]?(?:with )?(?:code|status)?\W{0,4}|return ?code\W{0,4})(-?[1-9][0-9]{0,2})\b",
    re.IGNORECASE,
)


def told_failure(lines: tuple[str, ...]) -> bool:
    """Whether the first or last lines of an observation tell an exit code that is not 0."""
    return any(_EXIT.search(line[:300]) for line in lines)


def weightiest(kinds: tuple[CommandKind, ...]) -> CommandKind:
    """The kind that an action of several commands has."""
    return next((kind for kind in _WEIGHT if kind in kinds), CommandKind.OTHER)
