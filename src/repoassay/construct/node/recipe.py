"""How packages of a repository for Node are installed: by its lock file where npm or pnpm reads it, else by date."""

from __future__ import annotations

import datetime
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from repoassay.construct.node.tests import NodeTests, string_values
from repoassay.construct.recipe.project import Project, at
from repoassay.text import join_names, printable, quote
from repoassay.types import Environment
from repoassay.workspace import node_version

__all__ = ["NodeRecipe", "node_recipes"]

_LOOKED_AT = 50
"""Files of tests that are read for what they load."""
_QUIET = "--ignore-scripts --no-audit --no-fund --include=dev"
_INSTALL = f"npm install {_QUIET} --no-package-lock"
_NPM_LOCKS = ("package-lock.json", "npm-shrinkwrap.json")
_PNPM = {"5": "7.33.7", "6": "8.15.9", "9": "9.15.9"}
"""A release of pnpm that reads a version of its lock file."""
_PNPM_10 = "10.15.0"
_OLDEST = 18
"""Of Node, where a package does not say."""
_READS_TYPES = 24
"""Of Node, the first with long support that takes files of TypeScript as they are from its beginning."""
_TYPED = re.compile(r"""(?:\bfrom|^import)\s*["']\.[^"'\n]*\.[mc]?ts["']""", re.MULTILINE)
_NODE = """\
(cd "$(mktemp -d)" && npm install {quiet} --no-save --prefix . \
"node-linux-$(node -p process.arch)@^{major}" && mkdir -p "$OLDPWD/node_modules/.bin" \
&& cp node_modules/node-linux-*/bin/node "$OLDPWD/node_modules/.bin/node")"""
"""Puts a newer Node than the machine's where programs of packages lie, which are found before the machine's."""
_ANY_MANAGER = "export npm_config_force=true; "
"""Has npm install in a project whose `devEngines` ask for another package manager, or another Node."""
_KINDS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_ELSEWHERE = re.compile(r"(?:git|github|gitlab|bitbucket|gist|https?|ssh)[+:].*|(?!\.)[\w.-]+/[\w.-]+(?:#.*)?")
"""A package's place in place of its version: a repository or an address, which no day dates and no build reaches."""
_WITHOUT = """\
kept=$(mktemp) && cp package.json "$kept" && node -e 'const f = "package.json", p = JSON.parse(fs.readFileSync(f)); \
for (const kind in p) for (const name of process.argv.slice(1)) if (/ependencies$/.test(kind)) delete p[kind][name]; \
fs.writeFileSync(f, JSON.stringify(p))' {names} && {{ {install}; }} && cp "$kept" package.json"""
"""Installs what package.json names without some packages, and leaves it as it was."""


@dataclass(frozen=True, slots=True)
class NodeRecipe:
    """An environment of Node, and sentences on what was taken from where; `words` name it in one."""

    environment: Environment
    words: str
    derivation: tuple[str, ...]


def node_recipes(tests: NodeTests, base: Project, day: datetime.date, checks: tuple[str, ...]) -> list[NodeRecipe]:
    """Return environments worth a try, the likeliest first.

    Args:
        tests: The tests, and the tree after the change.
        base: The tree before it, which is what is installed.
        day: The commit's day (UTC).
        checks: Commands that contributors run.
    """
    inner, after = _below(base, tests.package), _below(tests.project, tests.package)
    shared = not tests.package or _is_workspace(base)
    home, changed = (base, tests.project) if shared else (inner, after)
    package = home.json("package.json")
    node = _oldest_node(package if at(package, "engines", "node") else inner.json("package.json"))
    major = max(int(node.removeprefix(">=")), _READS_TYPES if _as_they_are(tests) else 0)
    here = int(node_version().partition(".")[0]) if major > _OLDEST else major
    newer = (_NODE.format(quiet=_QUIET, major=major),) if major > here else ()
    until = (day + datetime.timedelta(days=1)).isoformat()
    script, unknown = tests.command.script, tests.command.unknown
    notes = [
        f"Tests run with {tests.reader}, as the script {printable(script)} of package.json has it."
        if script else f"Tests run with {tests.reader}, which is among the packages.",
        *([f"They are started in {printable(tests.package)}."] if tests.package else []),
        *([f"What {quote(unknown)} does, which the script test starts, is not known."] if unknown else []),
        f"Node {node}, from engines in package.json." if at(package, "engines", "node") else f"Node {node}.",
    ]  # fmt: skip
    if newer:
        node = f">={here}"  # which npm runs on
        notes.append(
            f"The Node of this machine is {here}: one of {major} comes from the npm registry, for tests alone."
        )
    notes += [f"Before each run: {printable('; '.join(tests.command.before), 300)}."] if tests.command.before else []
    pairs = {project.root: (project.json("package.json"), other) for project, other in
             ((changed, package), (after, inner.json("package.json")))}  # fmt: skip
    added = [each for pair in pairs.values() for each in _added(*pair)]
    late = f"npm install {_QUIET} --no-save --no-package-lock --legacy-peer-deps {' '.join(map(shlex.quote, added))}"
    more = (late,) if added else ()
    if added:
        notes.append(f"Packages that the change adds: {join_names(added, 5)}.")
    strange = _elsewhere(package)
    if strange:
        notes.append(f"Passed over, since they have no version: {join_names(strange, 5)}.")
    recipes = []
    oldest = _direct_versions(home, package)
    wanted = [at(project.json("package.json"), "name") for project in ((base, inner) if tests.package else ())]
    for date in (until, None):  # an index that was copied from another may tell later days than the packages'
        for command, why in (*_ways(home, package, wanted if shared else ()), *([] if date else oldest)):
            build = (command, *(() if "pnpm" in why else more))
            if strange and command.startswith(_INSTALL):
                names = " ".join(map(shlex.quote, strange))
                build = tuple(_WITHOUT.format(names=names, install=each) for each in build)
            build = (*build, *newer)
            if at(package, "devEngines"):
                build = tuple(f"{_ANY_MANAGER}{each}" for each in build)
            if not shared:
                build = tuple(f"cd {shlex.quote(tests.package)} && {{ {each}; }}" for each in build)
            environment = Environment(
                node=node, exclude_newer=date, path=(".",), checks=checks, build=build,
                variables={name: value for name, value in tests.command.variables.items() if _usable(name)},
            )  # fmt: skip
            when = f"Packages as of {date}, the day after the commit" if date else "Packages as of today"
            words = f"{why}, packages as of {date or 'today'}"
            recipes.append(
                NodeRecipe(environment, words, (*notes, f"{when}, installed {why}; no install script runs."))
            )
    return recipes


def _usable(name: str) -> bool:
    return re.fullmatch(r"[A-Z_][A-Z0-9_]{0,99}", name) is not None


def _below(project: Project, folder: str) -> Project:
    return Project(project.files, project.read, f"{folder}/") if folder else project


def _is_workspace(base: Project) -> bool:
    """Whether packages below the root are installed from there."""
    return bool(at(base.json("package.json"), "workspaces")) or base.has("pnpm-workspace.yaml")


def _ways(base: Project, package: object, wanted: Sequence[object]) -> list[tuple[str, str]]:
    """Commands that install, and what they go by; `wanted` are names of the packages of a workspace that are enough."""
    found: list[tuple[str, str]] = []
    lock = next((name for name in _NPM_LOCKS if base.has(name)), "")
    by_date = f"{_INSTALL} || {_INSTALL} --legacy-peer-deps"
    if lock:
        found.append((f"npm ci {_QUIET} || npm ci {_QUIET} --legacy-peer-deps", f"by {lock}"))
    if base.has("pnpm-lock.yaml"):
        pnpm = re.fullmatch(r"pnpm@(\d+\.\d+\.\d+).*", str(at(package, "packageManager") or ""))
        settings = base.text("pnpm-workspace.yaml")
        newer = settings and not re.search(r"^packages:", settings, re.MULTILINE)  # which up to 9 is no such file
        version = pnpm[1] if pnpm else _PNPM_10 if newer else _PNPM.get(_lock_version(base), _PNPM["9"])
        program = f"npm exec --yes --package=pnpm@{version} -- pnpm"
        store = '--store-dir "$DOWNLOADS/pnpm" --config.package-import-method=copy'
        names = [each for each in wanted if isinstance(each, str)]
        enough = (
            "".join(f" --filter {shlex.quote(f'{name}...')}" for name in names) if len(names) == len(wanted) else ""
        )
        install = f"CI=true {program} install --frozen-lockfile --ignore-scripts {store}{enough}"
        unlocked = install.replace("--frozen-lockfile", "--no-lockfile")
        ways = [
            (install, f"by pnpm-lock.yaml with pnpm {version}"),
            (unlocked, f"from package.json with pnpm {version}"),
        ]
        return [*found, *ways]  # what pnpm lays out, npm does not
    if base.has("yarn.lock"):
        return [*found, (by_date, "by npm from package.json, since yarn.lock is not read")]
    return [*found, (by_date, "from package.json")]


def _direct_versions(base: Project, package: object) -> list[tuple[str, str]]:
    """Where no lock file is read: what package.json names at the version of yarn.lock, else at the oldest allowed.

    Types of later years do not go with an old compiler, and the days that an index tells may be its own.
    """
    if base.has("pnpm-lock.yaml") or any(base.has(name) for name in _NPM_LOCKS):
        return []
    locked = {
        name: found[1]
        for entry in re.split(r"\n(?=\S)", base.text("yarn.lock", 2**25))
        if (found := re.search(r'^  version:? "?(\d[\w.+-]*)"?$', entry, re.MULTILINE))
        for name in re.sub(r'[":]+$|"', "", entry.partition("\n")[0]).split(", ")
    }
    versions = {}
    for kind in ("devDependencies", "dependencies"):
        for name, asked in string_values(at(package, kind)).items():
            lowest = re.fullmatch(r"[\^~]?(\d+\.\d+\.\d+(?:-[\w.]+)?)", asked)
            version = (
                locked.get(f"{name}@{asked}") or locked.get(f"{name}@npm:{asked}") or (lowest[1] if lowest else "")
            )
            if version and re.fullmatch(r"(?:@[\w.-]+/)?[\w.-]+", name):
                versions[name] = version
    if not versions:
        return []
    exact = " ".join(shlex.quote(f"{name}@{version}") for name, version in versions.items())
    where = "as yarn.lock has them" if locked else "at the oldest versions that it allows"
    return [(f"{_INSTALL} --no-save --legacy-peer-deps {exact}", f"from package.json, what it names {where}")]


def _elsewhere(package: object) -> list[str]:
    """Packages that package.json has from a place and not by version."""
    named = {name: value for kind in _KINDS for name, value in string_values(at(package, kind)).items()}
    return [name for name, value in named.items() if _ELSEWHERE.fullmatch(value)]


def _lock_version(base: Project) -> str:
    found = re.search(r"^lockfileVersion:\s*['\"]?(\d+)", base.text("pnpm-lock.yaml", 2**25), re.MULTILINE)
    return found[1] if found else ""


def _oldest_node(package: object) -> str:
    """The lowest of the major versions that engines allows."""
    versions = re.findall(r"(?<![\d.])(\d{1,2})(?=[.\s|x*]|$|\))", str(at(package, "engines", "node") or ""))
    return f">={max(4, min(map(int, versions)))}" if versions else f">={_OLDEST}"


def _as_they_are(tests: NodeTests) -> bool:
    """Whether tests load files of TypeScript by node alone, which compiles none."""
    compiled = any(re.match(r"--(?:import|loader|experimental|require|r\b)|-r$", each) for each in tests.arguments)
    if tests.reader != "node" or compiled or "NODE_OPTIONS" in tests.command.variables:
        return False
    own = [path for path in tests.project.files if tests.is_test(path)]
    return any(path.endswith((".ts", ".mts")) or _TYPED.search(tests.project.text(path)) for path in own[:_LOOKED_AT])


def _added(after: object, before: object) -> list[str]:
    """Packages that the change asks for and its base does not, each with its range."""
    known = {name for kind in _KINDS for name in string_values(at(before, kind))}
    return [
        f"{name}@{version}" for kind in _KINDS[:2] for name, version in string_values(at(after, kind)).items()
        if name not in known and re.fullmatch(r"[\w.^~<>=*| -]{1,50}", version)
    ]  # fmt: skip
