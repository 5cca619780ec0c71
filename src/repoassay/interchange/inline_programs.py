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
_BODY = re.compile(
    r"[^\n;&|<]*<<-?[ \t]*(?P<mark>['\"]?)(?P<word>\w+)(?P=mark)[^\n]*\n(?P<text>.*?)\n\t*(?P=word)\s*?(?:\n|$)",
    re.DOTALL,
)
_AFTER_QUOTE = frozenset(" \t\n;&|)>`")
_IMPORT = re.compile(r"\b(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([^\n;#]+))")
_HIDES_IMPORTS = re.compile(r"(?m)^\s*\$|;\s*\$|__import__|importlib|runpy|sys\.path|\b(?:exec|eval)\b|\$\(|`")
_OWN = sys.stdlib_module_names - {"test"}


def isolate_programs(text: str) -> str:
    """A script in which programs that import nothing but Python's own modules run with `-I`; others are left."""
    return _CALL.sub(lambda call: f"{call[0]} -I" if _is_self_contained(text, call) else call[0], text)


def _is_self_contained(text: str, call: re.Match[str]) -> bool:
    program = "" if call["tool"] else _program(text, call)
    if program is None or _HIDES_IMPORTS.search(program):
        return False
    for origin, names in _IMPORT.findall(program):
        for name in [origin] if origin else names.split(","):
            if name.split()[:1] and name.split()[0].partition(".")[0] not in _OWN:
                return False
    return True


def _program(text: str, call: re.Match[str]) -> str | None:
    """The text of a program; None where its end cannot be told."""
    quote = call["quote"]
    if quote is None:
        found = _BODY.match(text, call.end())
        return found["text"] if found else None
    start = text.index(quote, call.end()) + 1
    end = start
    while end < len(text) and text[end] != quote:
        end += 2 if quote == '"' and text[end] == "\\" else 1
    whole = end < len(text) and (text[end + 1 : end + 2] or "\n") in _AFTER_QUOTE
    return text[start:end] if whole else None
