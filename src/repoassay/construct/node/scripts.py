"""How a package's own scripts start its tests: which runner, with what, and what comes before it.

Scripts are read and never run. `npm run` and what stands for it is followed; programs that check style or types are
left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["NodeTestCommand", "build_commands", "find_test_command"]

_DEEPEST = 6
_LINTERS = re.compile(
    r"(xo|eslint|standard|ts-standard|semistandard|neostandard|tsd|tsd-lite|prettier|biome|oxlint|tslint|attw|publint|knip"
    r"|dtslint|check-dts|size-limit|echo|markdownlint.*|remark|cspell|tstyche|type-coverage|madge|ls-engines|aud|dprint"
    r"|evalmd|auto-changelog|husky|depcheck|installed-check|is-ci|in-publish|codecov|coveralls|hereby|snyk)"
)  # fmt: skip
_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=.*", re.DOTALL)
_UNSETTABLE = re.compile(r"--(?:expose[-_]gc|allow[-_]natives[-_]syntax)")
"""Options of node that NODE_OPTIONS may not have; a test that needs one fails and is told."""
_WRAPPERS = frozenset({"c8", "nyc", "cross-env", "npx", "env", "exec", "dotenv", "--"})
_RUNNERS = frozenset({"ava", "vitest", "jest", "jasmine", "mocha", "tap", "tape", "uvu"})
_OTHERS = frozenset({"bun", "deno", "karma", "qunit", "wtr", "playwright", "lab",
                     "tsx", "ts-node", "ts-mocha", "react-scripts", "aegir", "tsdx", "poku"})  # fmt: skip
_PROGRAMS = _RUNNERS | _WRAPPERS | {"borp", "bnt", "node", "tsx"}
"""What pnpm and Yarn start by its name alone, where no script has it."""
_STARTERS = frozenset({"make", "gulp", "grunt", "jake", "node", "turbo", "nx", "lerna", "cd", "exit", "true", "tsc"})
"""Programs after which nothing tells what runs tests, so that a runner among the packages may."""
_COMPILERS = {"tsx": ("--import=tsx",), "ts-node": ("--require=ts-node/register",)}
"""Programs that start a file as node does, and what they have it load before."""
_LONG = {"-r": "--require", "-C": "--conditions"}
_MANAGERS = frozenset({"npm", "pnpm", "yarn"})
_FIRST = ("test", "test:unit", "test:node", "test:ci", "unit", "tests", "test:js", "mocha", "jest", "vitest", "ava")
"""Scripts in which a runner is looked for, the likeliest first."""
_VALUED = {
    "node": {"--import", "--require", "-r", "--loader", "--experimental-loader", "--conditions", "-C", "--test-timeout",
             "--test-concurrency", "--test-reporter", "--test-reporter-destination", "--test-name-pattern",
             "--env-file"},
    "ava": {"--timeout", "-T", "--config", "--concurrency", "-c", "--node-arguments", "--match", "-m"},
    "vitest": {"--config", "-c", "--root", "-r", "--dir", "--project", "--environment", "--pool", "--mode",
               "--reporter", "--outputFile", "--bail"},
    "jest": {"--config", "-c", "--testEnvironment", "--env", "--maxWorkers", "-w", "--rootDir", "--selectProjects",
             "--testTimeout", "--reporters", "--outputFile", "--testPathPattern", "--coverageDirectory"},
    "mocha": {"--require", "-r", "--timeout", "-t", "--ui", "-u", "--config", "--package", "--loader", "--import",
              "--extension", "--file", "--retries", "--slow", "-s", "--node-option", "-n", "--exclude", "--ignore",
              "--spec", "--reporter", "-R", "--reporter-option", "--reporter-options", "-O"},
    "jasmine": set(),
    "tap": set(),
    "tape": {"-r", "--require", "-i", "--ignore", "--ignore-pattern"},
    "uvu": {"-r", "--require", "-i", "--ignore", "-C", "--cwd", "-c", "--color"},
    "borp": set(),
}  # fmt: skip
_LEFT_OUT = {
    "node": r"--test$|--test-reporter.*|--watch.*|--experimental-test-coverage|--test-coverage.*|--test-name-pattern"
            r"|--test-only",
    "ava": r"--verbose|-v|--watch|-w|--tap|-t|--fail-fast|--update-snapshots|-u|--match|-m|--no-verbose",
    "vitest": r"--watch.*|--coverage.*|--reporter.*|--ui|--passWithNoTests|--outputFile|--bail|--update|-u|--silent"
              r"|--changed|--typecheck.*|--run|--no-coverage|-w",
    "jest": r"--watch.*|--coverage.*|--collectCoverage.*|--reporters|--silent|--verbose|--ci|--notify|--bail|-o|-u"
            r"|--onlyChanged|--json|--outputFile|--passWithNoTests|--testPathPattern.*|--updateSnapshot|--no-coverage",
    "mocha": r"--reporter.*|-R|-O|--recursive|--watch|-w|--spec|--bail|-b|--forbid-.*|--inspect.*|--colou?rs?"
             r"|--parallel|-c|--no-colou?rs?|--check-leaks",
    "jasmine": r"(?!--(?:config|helper|require)$).*",
    "tap": r"(?!--(?:node-arg|ts$|no-ts$)).*",
    "tape": r"(?!(?:-r|--require)$).*",
    "uvu": r"(?!(?:-r|--require)$).*",
    "borp": r"(?!--expose[-_]gc$).*",
}  # fmt: skip
"""Options that measure, watch, print, choose tests or change them."""


@dataclass(frozen=True, slots=True)
class NodeTestCommand:
    """How tests are started.

    Args:
        reader: Which runner runs them.
        arguments: What it is called with besides files.
        before: Commands that come before it, as they are written.
        variables: What is set for it.
        script: The name of the script that says so; empty where none does.
        unknown: The program that the script `test` starts in place of a runner, where one among the packages was taken.
    """

    reader: str
    arguments: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    script: str = ""
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    words: tuple[str, ...]
    variables: Mapping[str, str]


def find_test_command(
    scripts: Mapping[str, str], packages: Sequence[str], loads: Callable[[str], str] = lambda file: ""
) -> tuple[NodeTestCommand | None, str]:
    """Return how tests are started, or None with the name of what runs them instead; empty where nothing tells.

    Args:
        scripts: The package's scripts.
        packages: Names of its packages for development.
        loads: Returns the runner that a file loads by itself, which `node FILE` then starts; empty where it loads none.
    """
    strange, last = "", None
    for name in (*_FIRST, *(each for each in scripts if "test" in each)):
        before: list[str] = []
        for part in _parts(scripts, name, 0):
            found = _runner(part) or _started_file(part, loads)
            if found is not None:
                reader, arguments, options = found
                variables = {**part.variables, **({"NODE_OPTIONS": options} if options else {})}
                return NodeTestCommand(reader, arguments, tuple(before), variables, name), ""
            if part.words[0] in _OTHERS:
                strange = strange or part.words[0]
            elif not _checks(part):
                before.append(part.text)
                last = part if name == "test" else last
    names_a_file = last is None or re.search(r"[/.]", last.text)
    unknown = last.words[0] if last and last.words[0] not in _STARTERS and not names_a_file else ""
    reader = next(
        (each for each in ("vitest", "jest", "mocha", "ava", "tap", "tape", "uvu", "jasmine") if each in packages), ""
    )
    if reader and not strange:
        return NodeTestCommand(reader, unknown=unknown), ""
    return None, strange or unknown


def _parts(scripts: Mapping[str, str], name: str, depth: int) -> Iterator[_Part]:
    """The commands of a script one by one, those of other scripts in their place."""
    if depth > _DEEPEST:
        return
    for script in (f"pre{name}", name):
        for text in re.split(r"\s*(?:&&|;|\|\||(?<![&>])&(?!&))\s*", scripts.get(script, "")):
            try:
                words = shlex.split(text)
            except ValueError:
                continue
            plain, variables = _unwrapped(words)
            if not plain:
                continue
            called = _called(plain, scripts)
            if not called and plain[0] in ("pnpm", "yarn") and plain[1:2] and plain[1] in _PROGRAMS:
                plain, more = _unwrapped(plain[1:])
                variables |= more
            if not called and plain:
                yield _Part(text, tuple(plain), variables)
            for other in called:
                for part in _parts(scripts, other, depth + 1):
                    yield _Part(part.text, part.words, {**variables, **part.variables})


def _unwrapped(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """A command without what measures it or sets variables for it, and those variables."""
    variables: dict[str, str] = {}
    rest = list(words)
    wrapped = False
    while rest:
        if _ASSIGNMENT.fullmatch(rest[0]):
            name, _, value = rest.pop(0).partition("=")
            variables[name] = value
        elif rest[0] in _WRAPPERS or (rest[:2] in (["pnpm", "exec"], ["yarn", "exec"])):
            wrapped = True
            del rest[: 1 if rest[0] in _WRAPPERS else 2]
        elif wrapped and rest[0].startswith("-"):
            rest.pop(0)
        else:
            break
    return rest, variables


def _called(words: Sequence[str], scripts: Mapping[str, str]) -> list[str]:
    """Other scripts that a command runs."""
    head, rest = words[0], [word for word in words[1:] if not word.startswith("-")]
    if head in ("run-s", "run-p", "npm-run-all", "npm-run-all2"):
        patterns = [re.escape(word).replace(r"\*", "[^:]*") for word in rest]
        return [name for pattern in patterns for name in scripts if re.fullmatch(pattern, name)]
    if head not in _MANAGERS or not rest:
        return []
    name = rest[1] if rest[0] in ("run", "run-script") and len(rest) > 1 else rest[0]
    if pattern := re.fullmatch(r"/(\^?[\w:.-]+\$?)/", name):  # pnpm runs all whose names match
        return [each for each in scripts if re.search(pattern[1], each)]
    name = "test" if name == "t" else name
    return [name] if name in scripts else []


def _runner(part: _Part) -> tuple[str, tuple[str, ...], str] | None:
    """Runner, arguments and options of node itself, where a command is one."""
    head, *rest = part.words
    if (reader := head.removeprefix("_")) in _RUNNERS:  # Mocha has a second program, `_mocha`
        return reader, _options(reader, rest), ""
    if head == "tsx" and "--test" in rest:
        return "node", ("--import=tsx", *_options("node", rest)), ""
    if head in ("borp", "bnt"):  # start tests of node's own runner
        return "node", _options("borp", rest), ""
    if head != "node":
        return None
    if "--test" in rest:
        return "node", _options("node", rest), ""
    for at, word in enumerate(rest):
        package = re.search(r"node_modules/(?:\.bin/_?)?([\w-]+)", word)
        if package and package[1] in _RUNNERS:
            settable = [option for option in rest[:at] if not _UNSETTABLE.fullmatch(option)]
            return package[1], _options(package[1], rest[at + 1 :]), " ".join(settable)
    return None


def _started_file(part: _Part, loads: Callable[[str], str]) -> tuple[str, tuple[str, ...], str] | None:
    """The same, where a file of tests is started as a program: `node --import tsx test/index.ts`."""
    head, *rest = part.words
    at, options = 0, [*_COMPILERS.get(head, ())]
    while at < len(rest) and rest[at].startswith("-"):
        value = rest[at + 1 : at + 2] if rest[at] in _VALUED["node"] else []
        options.append("=".join([_LONG.get(rest[at], rest[at]), *value]))
        at += 1 + len(value)
    if head not in ("node", *_COMPILERS) or at >= len(rest) or not (reader := loads(rest[at])):
        return None
    return reader, tuple(options), ""


def build_commands(scripts: Mapping[str, str]) -> tuple[str, ...]:
    """What the script that builds a package runs, without checks; none where no script does."""
    name = next((each for each in ("build", "compile", "prepare", "prepack", "prepublishOnly") if each in scripts), "")
    return tuple(part.text for part in _parts(scripts, name, 0) if not _checks(part))


def _options(runner: str, words: Sequence[str]) -> tuple[str, ...]:
    """Options that are kept, each with its value; files are named by the task."""
    kept: list[str] = []
    valued, left = _VALUED[runner], re.compile(_LEFT_OUT[runner])
    at = 0
    while at < len(words):
        word = words[at]
        value = [words[at + 1]] if word in valued and at + 1 < len(words) else []
        if word.startswith("-") and word != "--" and not left.fullmatch(word.partition("=")[0]):
            kept += [word, *value]
        at += 1 + len(value)
    return tuple(kept)


def _checks(part: _Part) -> bool:
    """Whether a command only checks style, types or coverage."""
    head = part.words[0]
    if head == "tsc":
        return any(word.lower() in ("--noemit", "-noemit") for word in part.words)
    return bool(_LINTERS.fullmatch(head)) or head in _MANAGERS or part.words[-1] in ("coverage", ".nyc_output")
