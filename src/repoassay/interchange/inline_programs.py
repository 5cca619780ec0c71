"""Programs for Python that stand in a test script itself: they run apart from what an agent left in its folder.

`python -c TEXT`, `python - <<WORD` and `python -m` with a tool of Python's look for modules in the folder they stand in
first, which is the agent's. A `json.py` there would run in the place of Python's own, in the very program that writes
the reward.
"""

from __future__ import annotations

import re
import sys

__all__ = ["isolate_programs"]

_CALL = re.compile(
    r"(?<![\w.$-])python3?(?:\.\d+)?(?= (?:-[uBsSE]+ )*(?:-c (?P<quote>['\"])|(?:- ?[^\n;&|<]*)?<<(?!<)"
    r"|-m (?P<tool>json\.tool|http\.server|py_compile|compileall|base64|zipfile|tarfile|gzip|ast|calendar)(?![\w.])))"
)
# A list of tools, since others of Python's own, such as unittest and pdb, are there to run what lies in the folder.
_BODY = re.compile(
    r"[^\n;&|<]*<<-?[ \t]*(?P<mark>['\"]?)(?P<word>\w+)(?P=mark)[^\n]*\n(?P<text>.*?)\n\t*(?P=word)\s*?(?:\n|$)",
    re.DOTALL,
)
_AFTER_QUOTE = frozenset(" \t\n;&|)>`")
_IMPORT = re.compile(r"\b(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([^\n;#]+))")
_HIDES_IMPORTS = re.compile(r"(?m)^\s*\$|;\s*\$|__import__|importlib|runpy|sys\.path|\b(?:exec|eval)\b|\$\(|`")
_BEGINS = re.compile(r"\n*\t*[^\s$`]")
"""A first statement that another may stand before."""
_FOLDER_LAST = "import sys; sys.path.sort(key=bool, reverse=True)\n"
_OWN = sys.stdlib_module_names - {"test"}


def isolate_programs(text: str) -> str:
    """A script in which programs that import nothing but Python's own modules run with `-I`.

    Others, which may be about an agent's modules, look into the folder after all that is installed.
    """
    parts, done = [], 0
    for call in _CALL.finditer(text):
        start, end = (call.end(), call.end()) if call["tool"] else _span(text, call)
        if end < 0 or call.start() < done:
            continue
        program = text[start:end]
        if _is_self_contained(program):
            parts.append(f"{text[done : call.end()]} -I")
            done = call.end()
        elif _BEGINS.match(program) and "__future__" not in program:
            parts.append(text[done:start] + _FOLDER_LAST)
            done = start
    return "".join([*parts, text[done:]])


def _is_self_contained(program: str) -> bool:
    if _HIDES_IMPORTS.search(program):
        return False
    for origin, names in _IMPORT.findall(program):
        for name in [origin] if origin else names.split(","):
            if name.split()[:1] and name.split()[0].partition(".")[0] not in _OWN:
                return False
    return True


def _span(text: str, call: re.Match[str]) -> tuple[int, int]:
    """Where the text of a program begins and ends; -1 where its end cannot be told."""
    quote = call["quote"]
    if quote is None:
        found = _BODY.match(text, call.end())
        return found.span("text") if found else (0, -1)
    start = text.index(quote, call.end()) + 1
    end = start
    while end < len(text) and text[end] != quote:
        end += 2 if quote == '"' and text[end] == "\\" else 1
    whole = end < len(text) and (text[end + 1 : end + 2] or "\n") in _AFTER_QUOTE
    return (start, end) if whole else (0, -1)
