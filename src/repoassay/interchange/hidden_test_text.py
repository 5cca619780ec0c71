"""What tests look at, read from their text: names of tests, places, and what does not cross between sandboxes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from repoassay.interchange.image_file import ImportRefusal

__all__ = ["absolute_paths", "check_tests", "constant_paths", "names_of_tests", "starts_servers"]

_GIT = "Its tests look at a git repository that the agent leaves, and those do not cross."
_NOT_CROSSING = (
    (r"\bis_symlink\b|\breadlink\b|\b(?:islink|lexists)\b(?![\"'])",
     "Its tests look at symbolic links, which do not cross between sandboxes."),
    (r"\bst_(mode|uid|gid|mtime|ctime|atime|ino|nlink)\b|\bget[mca]time\b|\.owner\(\)|\bS_IMODE\b",
     "Its tests look at modes, owners or times of files, which do not cross between sandboxes."),
    (r"\bpsutil\b|\bpgrep\b|\bps (-?aux|-ef)|\bsystemctl\b|\bservice \w+ status|\bpidof\b|\bcrontab\b|\blsof\b"
     r"|\bnetstat\b|\bss -[a-z]*l",
     "Its tests look at running programs of the agent, which have ended by then."),
    (r"[\"'/]\.git\b|[\"']git(?!hub)([\"'], ?f?[\"']-?[a-zA-Z]|\s)|\bgit (log|status|show|branch|diff|rev-parse)\b",
     _GIT),
    (r"\bdocker[ -](compose(?!\.ya?ml)|run|exec|ps|build|inspect|images|pull|logs|cp|stop|start|info)\b"
     r"|[\"']docker[\"'], ?f?[\"'](?=compose|run|exec|ps|build|inspect|images|pull|logs|cp|stop|start|info)"
     r"|\bimport docker\b|\bdocker\.(from_env|sock)|which\([\"']docker",
     "Its tests need Docker."),
    (r"\bsetpriv\b(?=[^\n]*\\?\n?[^\n]*--r?e?uid)|\brunuser\b"
     r"|[\"']sudo[\"'], *[\"']-u[\"']|\bsudo -u\b|\bos\.set(?:re|res)?uid\(",
     "Its tests run programs as another account, whose rights a sandbox has not."),
)  # fmt: skip
_IS_PROGRAM = re.compile(
    r"\bS_IS(?:DIR|REG)\([\w.()]+?\.st_mode\)|(?:os\.stat\([^()]*\)|\.stat\(\))\.st_mode\s*&\s*(?:0o111|0o100|stat\.S_IXUSR|S_IXUSR)\b"
)
_MAKES_ITS_OWN = re.compile(r"\bgit\b[\"', ]+init\b|\bgit -C \S+ init\b")
_OPEN_FILES = re.compile(
    r"(?m)^.*\breadlink\(.*(\bfd\b|/proc/).*$"
    r"|(?<=/proc/)[^\n]*/fd\b[^\n]*(\n.*){0,6}?\breadlink\(.*\n(.*\n){0,3}?.*\bis_symlink\(\)"
)
_IS_NO_LINK = re.compile(r"\bassert (?:[^\n]*? and )?not [\w.\[\]\"'/ ()]{1,200}?\.(?:is_symlink|islink)\(")
_OWN_ARGUMENT = re.compile(
    r"(?m)^def \w+\((?P<path>\w+)\b"
    r"(?P<body>[^\n]*(?:\n(?!def |class )[^\n]*){0,20}?\n\s+if )os\.path\.islink\((?P=path)\)(?= or [^:]*:\s*raise )"
)
"""A function of one path that raises where that is a link: where nothing is there, reading it fails as well."""
_LINK_OR_NO_FILE = re.compile(
    r"\b(?P<path>\w+)\.is_symlink\(\) or (?=not \(?(?P=path)\.(is_file|exists)\(\))"
    r"|(?<=\bif os\.path\.exists\()(?P<gone>\w+)\) or os\.path\.islink\((?P=gone)(?=\):\s*os\.(remove|unlink)\()"
)
"""A link does not cross, so that nothing is there: the answer is the same, or there is nothing to be removed."""
_OF_THEMSELVES = re.compile(
    r"(?m)\bos\.stat\(__file__\)\.st_\w+|^.*\blsof\b.*\bkill\b.*$|^.*sys\.modules\[[\"']psutil[\"']\] *= *None.*$"
)
"""What asks about the tests' own files, clears the way for their own servers, or takes a module away."""
_REMARKS = re.compile(r"(?m)(?<=^)[ \t]*#.*$")
_INSTALLS = re.compile(r"(?m)^.*(\bapt(-get)? |\b(NO_PROXY|no_proxy)=).*$")
_PASSED_OVER = re.compile(
    r"--exclude[= ][\"']?(?:\./)?\.git\b|\bif [\"']/?\.git[\"'] in \w+( or [^\n:]*)?:\s*(continue|return)\b"
    r"|[\"']\.git[\"'](?=[^\n]*[\"'](node_modules|__pycache__|\.venv)[\"'])"
    r"|(?<=[\"'])(node_modules|__pycache__|\.venv)[\"'][^\n]*?[\"']\.git[\"']"
)
"""`.git` in a list of folders in which nothing is looked for."""
_SERVERS = re.compile(r"localhost|127\.0\.0\.1|0\.0\.0\.0(?!/)")
_STARTS = re.compile(r"Popen\(|start_server|HTTPServer|TestClient|subprocess\.run\(|threading|\w+=\"?\$!")
_INSTALLING = re.compile(r"(?m)^.*[\"'](?:[^\"'\n]*\s)?(?:pip3?|uv pip)[\"', ]+(?:-[\w-]+[\"', ]+)*install\b.*$")
_OF_TESTS = r"(?:(?<![\w.])/tests(?=[/\"'])|\bTESTS?_DIR\b)"
_TO_WRITE = r" *, *[\"'][wax]"
_WRITES_THERE = re.compile(
    rf"(?m)^[ \t]*(?P<name>\w+) *=.*{_OF_TESTS}.*/.*$"
    rf"(?=[\s\S]*(?:\b(?P=name)\.write_(?:text|bytes)\(|\bopen\( *(?P=name){_TO_WRITE}))"
    rf"|^.*(?:open\( *f?[\"']/tests/[^\"']*[\"']{_TO_WRITE}|(?<=\s)[12]?>+ *[\"']?/tests/).*$"
)
"""A file below the folder of the tests that they write."""
_ABSOLUTE = re.compile(r"(?<![\w.:/$}\-<])(/[A-Za-z][\w.+@-]*(?:/[\w.+@-]+)*)")


def starts_servers(texts: Iterable[str]) -> bool:
    """Whether programs of the tests start something that others of them may ask."""
    return any(_STARTS.search(text) for text in texts)


def check_tests(text: str, name: str, *, server_started: bool = False) -> None:
    """Raise `ImportRefusal` where a program of the tests looks at what cannot be shown to it.

    Args:
        text: The program's.
        name: What to call it.
        server_started: Whether another program of the tests starts the servers that are asked.
    """
    text = _IS_PROGRAM.sub("", text)  # whether a file is executable does cross
    text = _OWN_ARGUMENT.sub(r"def _(\g<path>\g<body>not os.path.exists(\g<path>)", text)
    text = _LINK_OR_NO_FILE.sub(r"\g<gone>", _OF_THEMSELVES.sub("", text))
    if name.endswith(".py") and (found := _INSTALLING.search(_REMARKS.sub("", text))):
        why = "Its tests install packages themselves, and have no network."
        raise ImportRefusal(why, name, text.count("\n", 0, found.start()) + 1, found[0])
    text = _OPEN_FILES.sub("", text)  # of programs that tests have started
    text = _INSTALLS.sub("", _PASSED_OVER.sub("", text))
    text = _REMARKS.sub("", _IS_NO_LINK.sub("assert not (", text))  # a link that does not cross fails such a test too
    for pattern, why in _NOT_CROSSING:
        if why == _GIT and _MAKES_ITS_OWN.search(text):
            continue
        if found := re.search(pattern, text):
            line = text.count("\n", 0, found.start()) + 1
            raise ImportRefusal(why, name, line, text.split("\n")[line - 1])
    if found := _WRITES_THERE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        why = "Its tests write into their own folder, which is read-only here."
        raise ImportRefusal(why, name, line, text.split("\n")[line - 1])
    if (found := _SERVERS.search(text)) and not server_started and not _STARTS.search(text):
        line = text.count("\n", 0, found.start()) + 1
        why = "Its tests ask a service that the agent leaves running, and nothing runs by then."
        raise ImportRefusal(why, name, line, text.split("\n")[line - 1])


def names_of_tests(text: str, file: str) -> tuple[list[str], bool]:
    """Ids of the tests in a file, in order, and whether pytest may find others: parametrized, inherited, conditional.

    Raises:
        ImportRefusal: The file is not Python, or has no tests.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ImportRefusal("Its tests are no Python that is understood.", file) from error
    names = [f"{file}::{name}" for name in _names(tree.body)]
    if not names:
        raise ImportRefusal("Its test file has no tests.", file)
    many = len(names) < sum(1 for _ in _defined(tree)) or any(map(_makes_more, ast.walk(tree)))
    return list(dict.fromkeys(names)), many


def _names(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node.name
        elif isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or _is_case(node)):
            yield from (f"{node.name}::{name}" for name in _names(node.body))


_PLAIN_BASE = re.compile(r"object|ABC|([\w.]*\.)?(IsolatedAsyncio)?TestCase")


def _defined(node: ast.AST) -> Iterator[ast.AST]:
    """Functions named like tests, wherever they stand but in functions."""
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _defined(inner)
        elif inner.name.startswith("test"):
            yield inner


def _makes_more(node: ast.AST) -> bool:
    """Whether tests come of it beside those that are written as functions of a file or class."""
    if isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or _is_case(node)):
        return any(not _PLAIN_BASE.fullmatch(ast.unparse(base)) for base in node.bases)
    if isinstance(node, ast.ImportFrom):
        return any(re.match(r"\*|test|Test(?!Case|Client)", name.asname or name.name) for name in node.names)
    if isinstance(node, ast.FunctionDef) and node.name == "pytest_generate_tests":
        return True
    return (isinstance(node, ast.Attribute) and node.attr == "parametrize") or (
        isinstance(node, ast.Name) and node.id == "globals"
    )


def _is_case(node: ast.ClassDef) -> bool:
    return any("TestCase" in ast.unparse(base) for base in node.bases)


def absolute_paths(text: str) -> list[str]:
    """Absolute paths that a text names, each once, in order."""
    found = (match[1].rstrip("./,;:") for match in _ABSOLUTE.finditer(text))
    return [path for path in dict.fromkeys(found) if len(PurePosixPath(path).parts) > 1]


def constant_paths(text: str) -> list[str]:
    """Absolute paths among a program's strings, but those it looks for in something; none where it is no Python."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return []
    compared = (node for node in nodes if isinstance(node, ast.Compare))
    sought = {node.left for node in compared if isinstance(node.ops[0], ast.In | ast.NotIn)}
    found = [str(node.value) for node in nodes if isinstance(node, ast.Constant) and node not in sought]
    return [value for value in dict.fromkeys(found) if re.fullmatch(r"(/[\w.+@-]+){2,}/?", value)]
