"""Accounts beside root that an agent works as: a sandbox has one, which may change every file of a task's places.

That is the same where the image gives all that lies there to the account, and nothing of the task looks at who works.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from repoassay.interchange.image_file import ImageRecipe, ImportRefusal

__all__ = ["EVERYBODY", "check_working_account", "owned_places"]

EVERYBODY = "*"
"""In the place of an account: any may write there."""
_OPEN_TO_ALL = re.compile(r"0?777|(a|ugo)\+rwx|(a|ugo)\+rwX|(a|ugo)=rwx|(a|ugo)=rwX")

WHY = "Its agent works as an account beside root, whose rights a sandbox has not."
_ASKS_WHO = re.compile(
    r"\b(whoami|logname|getuid|geteuid|getgid|getpwnam|getpwuid|getuser|getlogin|runuser|gosu|sudo|chown|os\.access"
    r"|PermissionError|EACCES|setuid|seteuid|(non-?)?root)\b|\bsu -|\bid -|[Pp]ermission denied"
)
_ROOT_OF_A_TREE = re.compile(
    r"\broot(?=\s*(=|/\s*[\w\"'(]|\.\w+\(|: *(Path|str)\b))"
    r"|(?<=\w=)root(?=[,)\]])|(?<=\w\()root(?=[,)])|(?<=, )root(?=[,)])"
)
"""A variable of a program that is called so."""
_REMOVED = re.compile(r"\brm -(?=\w*r)\w+ (?:/\S+ )*?(/[\w./-]+)(?=\s|$)")


def owned_places(words: list[str]) -> tuple[str, list[str]]:
    """The account that `chown -R` gives places to, and those as they are written; none where it is another call.

    Args:
        words: The command's words, from `chown` on, or those of a `chmod -R` that lets everybody write.
    """
    targets = [word for word in words[1:] if not word.startswith("-") and not re.match(r"\d?>", word)]
    if not any(re.fullmatch(r"-(?=\w*R)\w+|--recursive", word) for word in words) or len(targets) < 2:
        return "", []
    if words[0].endswith("chmod"):
        return (EVERYBODY, targets[1:]) if _OPEN_TO_ALL.fullmatch(targets[0]) else ("", [])
    return targets[0].partition(":")[0], targets[1:]


def check_working_account(account: str, recipe: ImageRecipe, texts: Iterable[str], file: str) -> None:
    """See that an account may change what whoever works in a sandbox may, and lay its home.

    Raises:
        ImportRefusal: It may not, or the task looks at who works.
    """
    if account not in recipe.users:
        raise ImportRefusal(WHY, file, 0, f"{account} is not made by the Dockerfile")
    home = f"/home/{account}"
    if recipe.roots:
        raise ImportRefusal(WHY, file, 0, f"root runs commands after it has given files to {account}")
    owned = recipe.owned.get(account, set()) | recipe.owned.get(EVERYBODY, set())
    gone = [place for command in recipe.build for place in _REMOVED.findall(command)]
    ours = (home, "/tmp", "/logs", "/tests", "/solution", *recipe.venvs, *gone)  # noqa: S108 - in the image
    for place in (recipe.work, *recipe.folders, *recipe.files):
        if place not in owned and not any(f"{place}/".startswith(f"{top}/") for top in ours):
            raise ImportRefusal(WHY, file, 0, f"{place} is not {account}'s")
    for text in texts:
        if found := _ASKS_WHO.search(_ROOT_OF_A_TREE.sub("", text)):
            raise ImportRefusal(WHY, file, 0, f"the task names {found[0]}")
    recipe.users = [name for name in recipe.users if name != account]
    recipe.folders.append(home)
    recipe.variables.setdefault("HOME", home)
