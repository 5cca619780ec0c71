"""What people and agents write about a pull request, without what leads to who wrote it or stands there unseen.

`review.blinded` takes out names, addresses, handles and branches. This goes before it: the same for everybody, so that
nothing left or missing tells agents from people. Links are taken out whole, since most of what they lead to (sessions
of agents, avatars, forks, the pull request itself) tells who it was, and no list of hosts is ever complete.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from repoassay.forges.pull import ForgePull
from repoassay.review import leaks
from repoassay.text import fold_look_alikes, is_hidden

__all__ = ["names_in_prose", "unsigned_prose"]

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# A folded part that quotes what an agent was told, as several forges' agents append it.
_FOLDED = re.compile(
    r"<details>\s*<summary>[^<\n]{0,80}\b(?:prompt|transcript|session|trajectory|conversation)\b.*?(?:</details>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|shy|zwj|zwnj|nbsp|lrm|rlm);", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]{0,30}(?:\s[^<>]{0,2000})?/?>")
_IMAGE = re.compile(r"!\[[^\]\n]{0,500}\](?:\([^()\s]{0,2000}(?:\s[^()\n]{0,300})?\)|\[[^\]\n]{0,200}\])")
_LINK = re.compile(r"\[([^\[\]\n]{0,500})\](?:\([^()\s]{0,2000}(?:\s[^()\n]{0,300})?\)|\[[^\]\n]{0,200}\])")
_DEFINITION = re.compile(r"^[ ]{0,3}\[[^\]\n]{1,200}\]:[ \t]*\S.*$", re.MULTILINE)
_THREAD = re.compile(
    r"https?://[^\s/<>]{1,200}/[\w.-]+/[\w./-]{1,200}?/(?:issues|pull|merge_requests)/(\d{1,9})\b[^\s<>)\]]{0,200}"
)
_ADDRESS = re.compile(
    r"<?\b(?:https?|ftp|git|ssh|vscode|cursor|mailto)://?[^\s<>\"'`)\]]{1,2000}>?|\bwww\.[^\s<>)\]]{1,2000}"
)
_CREDIT = re.compile(
    r"^[^\w\n]{0,20}(?:th(?:is|ese)\s[\w ]{1,40}?\s(?:was|were|is|has been)\s|(?:pr|pull request|draft)\s)?"
    r"(?:\w+ly\s|auto-?|co-?){0,2}"
    r"(?:generated|created|made|opened|written|authored|produced|implemented|submitted|drafted|powered|built|prepared"
    r"|assisted)\s(?:\w+ly\s)?(?:by|with|using|via|in|from)\b.{0,300}$",
    re.IGNORECASE | re.MULTILINE,
)
_TRAILER = re.compile(r"[ \t>*_]*([A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*)[*_]*:[*_]*\s\S.*")
_REFERENCES = frozenset({"fixes", "closes", "resolves", "refs", "see", "related", "issue"})
_EMOJI = re.compile(
    "[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff][\ufe0e\ufe0f\u200d\U0001f3fb-\U0001f3ff]*"
)
_TICKS = re.compile(r"`+|\n")
_WORD = re.compile(r"[^\W_][\w.-]{1,80}")


def unsigned_prose(text: str, pull: ForgePull, names: Sequence[str] = ()) -> str:
    """Return a title, description or issue as text that leads nowhere.

    Taken out are HTML comments and tags, images, addresses (the text of a link stays; a thread of the forge becomes its
    number), lines of credit, trailers at the end, emoji outside of code, the pull request's own number and commits,
    and words that are names once look-alike letters are read as what they look like.

    Args:
        text: Markdown, hostile.
        pull: Whose number and commits are looked for.
        names: People and agents of the study.
    """
    text = _COMMENT.sub("", text.replace("\r\n", "\n"))
    text = _FOLDED.sub("", _ENTITY.sub(lambda found: html.unescape(found[0]), text))
    text = "".join(letter for letter in text if letter in "\n\t\u200d\ufe0f" or not is_hidden(letter))
    text = _IMAGE.sub("", _outside_code(_TAG, _COMMENT.sub("", text)))
    text = _DEFINITION.sub("", _LINK.sub(r"\1", _LINK.sub(r"\1", text)))  # an image may stand in a link
    text = _ADDRESS.sub("", _THREAD.sub(r"#\1", text))
    text = _own_marks(pull).sub("", text)
    text = _CREDIT.sub("", _outside_code(_EMOJI, text).replace("\u200d", "").replace("\ufe0f", ""))
    return _without_trailers(_without_lookalikes(text, names)).strip()


def names_in_prose(names: Iterable[str], pulls: Sequence[ForgePull]) -> tuple[str, ...]:
    """Return the parts of people's names (`Zoe` of `Zoe Quark`) that are no ordinary words in these pull requests.

    Ordinary is what stands anywhere in small letters (`will`, `mark`), and in any letters in a diff or a repository.
    """
    parts = {part for name in names for part in re.findall(r"[^\W\d_]{3,40}", name) if part[0].isupper()}
    prose = {word for pull in pulls for text in (pull.title, pull.body, pull.issue_text) for word in text.split()}
    used = {word.strip(".,:;!?()*_`") for word in prose if word.islower()}
    used |= {word.lower() for pull in pulls for word in re.findall(r"[^\W\d_]{3,40}", f"{pull.repository} {pull.diff}")}
    return tuple(sorted(part for part in parts if part.lower() not in used))


def _own_marks(pull: ForgePull) -> re.Pattern[str]:
    """Match the number and the commits by which anybody finds the pull request on its forge."""
    commits = "|".join(rf"{sha[:7]}[0-9a-f]{{0,57}}" for sha in pull.shas)
    own = rf"\s*\(?(?<![\w/])[#!]{pull.number}(?!\d)\)?"
    return re.compile(rf"{own}|\b(?:{commits})\b" if commits else own)


def _outside_code(pattern: re.Pattern[str], text: str) -> str:
    parts, end = list[str](), 0
    for first, last in _code_spans(text):
        parts += [pattern.sub("", text[end:first]), text[first:last]]
        end = last
    return "".join([*parts, pattern.sub("", text[end:])])


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Give where code within a line begins and ends: as many backticks on either side, as CommonMark has it.

    Each run of backticks is looked at twice; a pattern would look for each one's end to the end of the line.
    """
    runs = [found.span() for found in _TICKS.finditer(text)]
    closing, newest = list[int](), dict[int, int]()
    for place in range(len(runs) - 1, -1, -1):
        first, last = runs[place]
        if text[first] == "\n":
            newest.clear()
            closing.append(-1)
        else:
            closing.append(newest.get(last - first, -1))
            newest[last - first] = place
    closing.reverse()
    place = 0
    while place < len(runs):
        if closing[place] >= 0:
            yield runs[place][0], runs[closing[place]][1]
        place = max(place, closing[place]) + 1


def _without_trailers(text: str) -> str:
    """Drop paragraphs at the end that are trailers, but for lines that name an issue."""
    paragraphs = re.split(r"\n[ \t]*\n", text.strip())
    kept = list[str]()
    while len(paragraphs) > 1:
        lines = [line for line in paragraphs[-1].split("\n") if line.strip()]
        found = [_TRAILER.fullmatch(line) for line in lines]
        keys = [each[1].lower() for each in found if each is not None]
        if len(keys) != len(lines) or not any("-" in key for key in keys):
            break
        kept += [line for line, key in zip(lines, keys, strict=True) if key in _REFERENCES]
        paragraphs.pop()
    return "\n\n".join([*paragraphs, *kept])


def _without_lookalikes(text: str, names: Sequence[str]) -> str:
    """Take out words that are names when read as what they look like."""
    if text.isascii():
        return text
    strange = {word for word in _WORD.findall(text) if not word.isascii()}
    gone = {word for word in strange if (folded := fold_look_alikes(word)).isascii() and leaks(folded, names)}
    return _WORD.sub(lambda found: "" if found[0] in gone else found[0], text) if gone else text
