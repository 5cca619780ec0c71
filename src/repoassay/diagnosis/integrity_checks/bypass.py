"""The repository left unused: the deliverable was made without it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from repoassay.diagnosis.context import AttemptStory
from repoassay.diagnosis.deliverables import missing, name_of
from repoassay.diagnosis.evidence import fact
from repoassay.diagnosis.integrity_checks.finding import IntegrityCheck, IntegrityFinding, IntegrityState, Severity
from repoassay.diagnosis.purpose import CommandKind, inline_code, script_of
from repoassay.diagnosis.words import words

__all__ = ["bypass", "uses_repository"]

_IMPORT = re.compile(
    r"^[ \t]{0,40}(?:from[ \t]{1,4}([\w.]{1,200})[ \t]{1,4}import|import[ \t]{1,4}([\w., \t]{1,300}))", re.MULTILINE
)
_ADMITS = re.compile(
    r"(?:without|instead of|rather than|not) (?:us(?:e|ing) |rely(?:ing)? on |need(?:ing)? )?(?:the |this "
    r"|its )?(?:\w{1,30} )?(?:repository|repo|library|package|framework|project|codebase)\b"
    r"|(?:my|our|a|an) (?:own|simple|simplified|basic|custom|alternative|minimal|lightweight|standalone"
    r"|from-scratch) (?:\w{1,20} ){0,2}(?:implementation|version|script|solution|approach|algorithm|fallback)"
    r"|from scratch|bypass(?:es|ing)? the|work(?:s|ing)? around the (?:repository|library|package)",
    re.IGNORECASE,
)
_COMMON = words(
    "numpy pandas scipy matplotlib pil cv2 sklearn skimage requests bs4 lxml torch torchvision torchaudio "
    "tensorflow keras librosa soundfile pydub openpyxl xlrd docx pypdf fitz pdfminer reportlab yaml tqdm "
    "seaborn moviepy imageio nltk spacy transformers whisper speech_recognition rembg jieba pywt networkx "
    "plotly statsmodels httpx aiohttp selenium playwright dateutil chardet markdown markdownify html2text "
    "readability newspaper tabulate rich click jinja2 regex pypdf2 pdfplumber camelot tabula faker scrapy "
    "trafilatura stegano neurokit2 easyocr pytesseract vosk gtts noisereduce webrtcvad"
)
_TOOLS = words(
    "ffmpeg convert magick sox tesseract pdftotext pdftoppm wkhtmltopdf pandoc libreoffice soffice "
    "imagemagick qpdf pdftk espeak gs"
)


def bypass(story: AttemptStory) -> Iterator[IntegrityFinding]:
    """A deliverable that was made by programs of which none imports or runs the repository."""
    case = story.case
    if case.edit or not case.own or missing(case) or _asked_otherwise(story):
        return
    makers = _makers(story)
    if not makers or any(
        uses_repository(story, place) for place, _ in story.of(CommandKind.EXECUTE, CommandKind.VERIFY)
    ):
        return
    place, name = makers[-1]
    admitted = next((remark for _, remark in story.remarks if _ADMITS.search(remark.text)), None)
    tried = any(one.place < place for one in story.troubles.all)
    evidence = [story.actions[place].at(name)]
    if admitted is not None:
        evidence.append(admitted.at((_ADMITS.search(admitted.text) or [""])[0]))
    yield IntegrityFinding(
        check=IntegrityCheck.BYPASS,
        rule="repository-unused",
        state=IntegrityState.USED,
        severity=Severity.MEDIUM,
        confidence=min(0.9, 0.62 + 0.18 * (admitted is not None) + 0.08 * tried),
        what=f"no program that ran imports or starts {case.repository or 'the repository'}",
        clears="the repository was started in a way the trajectory does not show, or the task leaves the means open",
        evidence=tuple(evidence) or (fact("the repository is not used"),),
    )


def _asked_otherwise(story: AttemptStory) -> bool:
    return bool(
        re.search(r"(?:any|whatever) (?:tool|library|means|method)|without (?:using )?the repository", story.asked)
    )


def _makers(story: AttemptStory) -> list[tuple[int, str]]:
    """Actions that ran the agent's own programs, or tools of the system, with success."""
    found = []
    for place in story.troubles.succeeded:
        action = story.actions[place]
        if action.kind is not CommandKind.EXECUTE:
            continue
        for kind, simple in action.commands:
            script = name_of(script_of(simple))
            own = script in {name.lower() for name in story.scripts} or inline_code(simple) is not None
            if kind is CommandKind.EXECUTE and (own or simple.name in _TOOLS):
                found.append((place, simple.words[0]))
    return found


def uses_repository(story: AttemptStory, place: int) -> bool:
    """Whether an action that ran well imports or starts code of the repository, or code of unknown origin."""
    if place not in story.troubles.succeeded:
        return False
    action = story.actions[place]
    for kind, simple in action.commands:
        if kind is not CommandKind.EXECUTE:
            continue
        script = script_of(simple)
        parts = [part for part in re.split(r"[/.]", script) if part]
        code = inline_code(simple)
        if any(story.case.owns(part) for part in parts) or story.case.owns(simple.name):
            return True
        if code is not None:
            if _imports_own(code, story):
                return True
        elif name_of(script) in {name.lower() for name in story.scripts}:
            if _script_uses(name_of(script), story, place, 0):
                return True
        elif simple.name not in _TOOLS:
            return True
    if not action.commands:
        return any(_imports_own(written.text, story) for written in action.authored)
    return False


def _script_uses(script: str, story: AttemptStory, place: int, depth: int) -> bool:
    texts = [
        written.text
        for action in story.actions[: place + 1]
        for written in action.authored
        if name_of(written.path) == script
    ]
    return any(_imports_own(text, story) for text in texts) or (
        depth < 3
        and any(
            f"{other.rpartition('.')[0]}" in _modules(text) and _script_uses(other.lower(), story, place, depth + 1)
            for text in texts
            for other in story.scripts
            if other.lower() != script
        )
    )


def _modules(text: str) -> set[str]:
    found = set()
    for match in _IMPORT.finditer(text[:60_000]):
        for name in (match[1] or match[2]).split(","):
            found.add(name.strip().split(" ")[0].partition(".")[0])
    return found


def _imports_own(text: str, story: AttemptStory) -> bool:
    """Whether a program imports the repository, or something that is neither standard nor a well-known package."""
    for module in _modules(text):
        if story.case.owns(module):
            return True
        known = module in sys.stdlib_module_names or module.lower() in _COMMON
        if module and not known and f"{module}.py" not in story.scripts:
            return True
    named = (story.case.repository, *story.case.packages)
    return any(
        name
        and re.search(
            rf"(?:subprocess|os\.system|sys\.path|runpy|importlib"
            rf"|popen).{{0,300}}{re.escape(name)}",
            text[:60_000],
            re.IGNORECASE | re.DOTALL,
        )
        for name in named
    )
