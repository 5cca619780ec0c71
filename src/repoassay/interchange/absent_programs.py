"""Programs that tests start and that nothing in their image brings, so that they may pass here by the machine's own."""

from __future__ import annotations

import re
from collections.abc import Mapping

from repoassay.interchange.image_file import ImageRecipe, ImportRefusal

__all__ = ["check_started"]

_SMALL = re.compile(
    r"(?:ubuntu|debian|ghcr\.io/laude-institute/t-bench/[\w.-]+|laude-institute/t-bench/[\w.-]+)(?:[:@].*)?"
    r"|(?:python|node):[\w.-]*slim[\w.-]*(?:@.*)?"
)
"""Images that have little beside what a system cannot do without."""
_BROUGHT_BY = {
    "file": r"file|libtool|debhelper|rpm|devscripts", "curl": r"curl", "wget": r"wget", "git": r"git(-all)?|devscripts",
    "jq": r"jq", "bc": r"bc|linux-headers-\S+", "xxd": r"xxd|vim\S*", "unzip": r"unzip|r-base\S*", "zip": r"zip",
    "tree": r"tree", "sqlite3": r"sqlite3", "rsync": r"rsync", "strace": r"strace", "gdb": r"gdb|valgrind",
}  # fmt: skip
"""Programs that machines have and such images do not -> the packages of Debian that bring them."""
_STARTED = re.compile(
    rf"\b(?:run|Popen|call|check_call|check_output)\(\s*\[\s*[\"'](?:/usr/bin/)?(?P<name>{'|'.join(_BROUGHT_BY)})[\"']"
)


def check_started(programs: Mapping[str, str], script: str, image: ImageRecipe) -> None:
    """Refuse tests which start a program that their image lacks: in the image they pass nobody.

    Args:
        programs: Programs of the tests in Python, by path below their folder; one that asks for the program first,
            by `which`, is left alone.
        script: What runs them, which may install it before the tests run.
        image: What they run in. Its build may bring the program in another way, where a command of it names it.

    Raises:
        ImportRefusal: They do.
    """
    if not _SMALL.fullmatch(image.base):
        return
    for path, text in programs.items():
        code = re.sub(r"(?m)^[ \t]*#.*", "", text)
        for found in _STARTED.finditer(code) if path.endswith(".py") else ():
            name = found["name"]
            named = rf"(?<![\w./-]){name}(?![\w-])"
            packages = any(re.fullmatch(_BROUGHT_BY[name], package) for package in image.apt)
            other = re.search(named, "\n".join((script, *image.build)))
            if not (packages or other or re.search(rf"\bwhich\([\"']{name}[\"']", text)):
                why = f"Its tests start {name}, which nothing in its image is known to bring."
                raise ImportRefusal(why, f"tests/{path}", code.count("\n", 0, found.start()) + 1, found[0])
