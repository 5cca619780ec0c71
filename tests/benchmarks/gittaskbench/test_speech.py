"""Cases of the tasks about speech: transcripts, voices taken apart, one decision."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from scipy.signal import butter, resample_poly, sosfilt

from benchmarks.gittaskbench.casebook import Answer, Casebook, Desk
from repoassay.types import Reading
from shared_data import SHARED, needs_shared

if not (SHARED / "data").is_dir():  # a mark would come too late: the cases below are made of the true transcripts
    pytest.skip(needs_shared.kwargs["reason"], allow_module_level=True)

pytestmark = pytest.mark.exhaustive
book = Casebook()
PASSED, FAILED, NOTHING = (True, True), (True, False), (False, False)
TRUTHS = SHARED / "data" / "groundtruth"


def truth(task: str) -> str:
    return (TRUTHS / task / "gt.txt").read_text(encoding="utf-8").strip()


def text(
    task: str, name: str, content: bytes | str, fair: Answer, published: Answer | None, file: str = "output.txt"
) -> None:
    @book.case(task, name, *fair, published)
    def _(c: Desk) -> None:
        c.write(file, content)


def wrong(said: str, count: int) -> str:
    """Another letter in place of `count` letters, evenly spread."""
    letters = [place for place, letter in enumerate(said) if letter.isalpha()]
    chosen = {letters[round((each + 0.5) * len(letters) / count)] for each in range(count)}
    return "".join(("x" if letter != "x" else "y") if place in chosen else letter for place, letter in enumerate(said))


def bare(said: str) -> str:
    return re.sub(r"[\W_]", "", said)


CHINESE, ENGLISH, MARKED = truth("FunASR_01"), truth("FunASR_02"), truth("FunASR_03")
MARKS = re.findall(r"[^\w\s]", MARKED)

text("FunASR_01", "reference", CHINESE, PASSED, PASSED)
text("FunASR_01", "spaced", " ".join(bare(CHINESE)), PASSED, FAILED)
text("FunASR_01", "half-width-marks", CHINESE.replace("。", ". ").replace(chr(0xFF0C), ", "), PASSED, None)
text("FunASR_01", "windows", "\ufeff" + CHINESE.replace("。", "。\r\n"), PASSED, PASSED)
text("FunASR_01", "gb18030", CHINESE.encode("gb18030"), PASSED, NOTHING)
text("FunASR_01", "utf-16", CHINESE.encode("utf-16"), PASSED, NOTHING)
text("FunASR_01", "four-wrong", wrong(CHINESE, 4), PASSED, PASSED)
text("FunASR_01", "six-wrong", wrong(CHINESE, 6), FAILED, FAILED)
text("FunASR_01", "half", CHINESE[:24], FAILED, FAILED)
text("FunASR_01", "twice", CHINESE * 2, FAILED, FAILED)
text("FunASR_01", "padded-after", CHINESE + "的" * 256, FAILED, None)
text("FunASR_01", "no-letters", "。" * 50, FAILED, FAILED)
text("FunASR_01", "blank", " \n", (None, False), FAILED)
text("FunASR_01", "empty", b"", NOTHING, NOTHING)
text("FunASR_01", "garbage", b"\xff\xfe\x00\x9d" + bytes(range(256)) * 20, NOTHING, NOTHING)

text("FunASR_02", "reference", ENGLISH, PASSED, PASSED)
text("FunASR_02", "letters-alone", re.sub(r"[^\w\s]", "", ENGLISH).lower(), PASSED, None)
text("FunASR_02", "a-line-a-sentence", ENGLISH.replace(". ", ".\n"), PASSED, PASSED)
text("FunASR_02", "twenty-wrong", wrong(ENGLISH, 20), PASSED, PASSED)
text("FunASR_02", "hundred-wrong", wrong(ENGLISH, 100), FAILED, FAILED)
text("FunASR_02", "first-half", ENGLISH[: len(ENGLISH) // 2], FAILED, FAILED)
text("FunASR_02", "sorted-words", " ".join(sorted(ENGLISH.split())), FAILED, FAILED)
text("FunASR_02", "padded", ENGLISH + " the" * 256, FAILED, FAILED)
text("FunASR_02", "garbage", b"\xff\xfe\x00\x9d" + bytes(range(256)) * 20, NOTHING, NOTHING)

text("FunASR_03", "reference", MARKED, PASSED, PASSED)
text("FunASR_03", "half-width-marks", MARKED.replace("。", ". ").replace(chr(0xFF0C), ", "), PASSED, FAILED)
text("FunASR_03", "as-a-recogniser-prints", f"[{{'key': 'rand', 'text': '{MARKED}'}}]\n", PASSED, PASSED)
text("FunASR_03", "a-line-a-sentence", MARKED.replace("。", "。\n"), PASSED, PASSED)
text("FunASR_03", "windows", "\ufeff" + MARKED + "\r\n", PASSED, PASSED)
text("FunASR_03", "one-mark-missing", MARKED[:-1], PASSED, PASSED)
text("FunASR_03", "one-mark-more", MARKED.replace("文化精英", "文化精英" + chr(0xFF0C)), PASSED, PASSED)
text("FunASR_03", "some-misheard", MARKED.replace("真正", "珍正").replace("睡意", "水意"), PASSED, PASSED)
text("FunASR_03", "no-marks", bare(MARKED), FAILED, FAILED)
text("FunASR_03", "marks-first", "".join(MARKS) + bare(MARKED), FAILED, PASSED)
text("FunASR_03", "a-mark-everywhere", chr(0xFF0C).join(bare(MARKED)) + "。。。", FAILED, PASSED)
text("FunASR_03", "marks-doubled", "".join(each * 2 if each in MARKS else each for each in MARKED), FAILED, PASSED)
text("FunASR_03", "marks-moved", re.sub(r"(\w\w\w)([^\w\s])", r"\2\1", MARKED), FAILED, PASSED)
text("FunASR_03", "another-recording", CHINESE, FAILED, FAILED)
text("FunASR_03", "marks-alone", "".join(MARKS), FAILED, NOTHING)
text("FunASR_03", "garbage", b"\xff\xfe\x00\x9d" + bytes(range(256)) * 20, NOTHING, NOTHING)

text("SpeechBrain_03", "reference", "Happy birthday", PASSED, PASSED)
text("SpeechBrain_03", "capitals", "HAPPY BIRTHDAY\n", PASSED, PASSED)
text("SpeechBrain_03", "exclaimed", "Happy birthday!", PASSED, FAILED)
text("SpeechBrain_03", "two-lines", "happy\nbirthday\n", PASSED, PASSED)
text("SpeechBrain_03", "byte-order-mark", "\ufeffHappy birthday\r\n", PASSED, FAILED)
text("SpeechBrain_03", "misspelt", "Happy birthdays", FAILED, FAILED)
text("SpeechBrain_03", "one-word", "happybirthday", FAILED, FAILED)
text("SpeechBrain_03", "turned", "birthday happy", FAILED, FAILED)
text("SpeechBrain_03", "sung-on", "Happy birthday to you", FAILED, FAILED)
text("SpeechBrain_03", "twice", "Happy birthday happy birthday", FAILED, FAILED)
text("SpeechBrain_03", "labelled", "Transcription: Happy birthday", FAILED, FAILED)
text("SpeechBrain_03", "other-suffix", "Happy birthday", PASSED, NOTHING, "output.text")
text("SpeechBrain_03", "blank", "\n", (None, False), FAILED)
text("SpeechBrain_03", "empty", "", NOTHING, NOTHING)

for name, content, fair, published in (
    ("reference", '{"prediction": false}', PASSED, PASSED),
    ("pretty", '{\n  "prediction": false\n}\n', PASSED, PASSED),
    ("with-a-score", '{"score": 0.12, "prediction": false}', PASSED, PASSED),
    ("true", '{"prediction": true}', FAILED, FAILED),
    ("null", '{"prediction": null}', FAILED, FAILED),
    ("list", '{"prediction": [false]}', FAILED, FAILED),
    ("no-key", '{"result": false}', FAILED, NOTHING),
    ("bare-value", "false", FAILED, NOTHING),
    ("twice", '{"prediction": true, "prediction": false}', FAILED, PASSED),
    ("several", '[{"prediction": true}, {"prediction": false}]', FAILED, NOTHING),
    ("python", "{'prediction': False}", NOTHING, NOTHING),
    ("truncated", '{"prediction": fal', NOTHING, NOTHING),
    ("deep", "[" * 100_000, NOTHING, NOTHING),
    ("huge-number", '{"prediction": ' + "9" * 10_000 + "}", NOTHING, NOTHING),
    ("empty", "", NOTHING, NOTHING),
):
    text("SpeechBrain_05", name, content, fair, published, "output.json")


def voices(task: str) -> list[Any]:
    """Both references at 8 kHz, at a level that 16 bits hold."""
    found = [soundfile.read(TRUTHS / "SpeechBrain_02" / f"gt_{number:02d}.wav")[0] for number in (1, 2)]
    return [0.9 * voice / abs(voice).max() for voice in found]


def mixture() -> Any:
    """The dialogue at 8 kHz, in one channel."""
    path = SHARED / "data" / "queries" / "SpeechBrain_02" / "input" / "SpeechBrain_02_input.mp3"
    return resample_poly(soundfile.read(path)[0].mean(axis=1), 80, 441)


def separated(
    name: str, fair: Answer, published: Answer | None, kind: str = "wav", rate: int = 8000, **options: Any
) -> Any:
    def register(make: Any) -> None:
        @book.case("SpeechBrain_02", name, *fair, published)
        def _(c: Desk) -> None:
            for number, samples in enumerate(make(c), 1):
                soundfile.write(c.folder / f"output_{number:02d}.{kind}", samples, rate, **options)

    return register


def spoken(change: Any) -> Any:
    return lambda c: [change(voice, c) for voice in voices(c.folder.name)]


HALF = butter(2, [300, 3400], "bandpass", fs=8000, output="sos")
separated("sixteen-bits", PASSED, PASSED)(spoken(lambda voice, _: voice))
separated("swapped", PASSED, PASSED)(lambda _: voices("")[::-1])
separated("quiet", PASSED, PASSED)(spoken(lambda voice, _: voice / 100))
separated("upside-down", PASSED, PASSED)(spoken(lambda voice, _: -voice))
separated("stereo", PASSED, PASSED)(spoken(lambda voice, _: np.stack([voice, voice], axis=1)))
separated("flac", PASSED, NOTHING, "flac")(spoken(lambda voice, _: voice))
separated("mp3", PASSED, PASSED, "mp3", 44100)(spoken(lambda voice, _: resample_poly(voice, 441, 80)))
separated("44-kilohertz", PASSED, PASSED, rate=44100)(spoken(lambda voice, _: resample_poly(voice, 441, 80)))
separated("late", PASSED, None)(spoken(lambda voice, _: np.concatenate([np.zeros(1600), voice])))
separated("start-cut", PASSED, FAILED)(spoken(lambda voice, _: voice[1200:]))
separated("telephone", PASSED, PASSED)(spoken(lambda voice, _: sosfilt(HALF, voice)))
separated("little-noise", PASSED, PASSED)(
    spoken(lambda voice, c: voice + c.chance.normal(size=voice.size) * voice.std() / 10)
)
separated("little-of-the-other", PASSED, PASSED)(lambda _: [a + b / 10 for a, b in (voices(""), voices("")[::-1])])
separated("half-of-the-other", FAILED, PASSED)(lambda _: [a + b / 2 for a, b in (voices(""), voices("")[::-1])])
separated("much-noise", FAILED, PASSED)(
    spoken(lambda voice, c: voice + c.chance.normal(size=voice.size) * voice.std() / 2)
)
separated("mixture-twice", FAILED, None)(lambda _: [mixture(), mixture()])
separated("mixture-and-noise", FAILED, None)(
    lambda c: [mixture() + c.chance.normal(size=mixture().size) / 1000 for _ in (1, 2)]
)
separated("channels", FAILED, None)(lambda _: [mixture(), -mixture()])
separated("noise", FAILED, PASSED)(spoken(lambda voice, c: c.chance.normal(size=voice.size) / 10))
separated("silence", FAILED, FAILED)(spoken(lambda voice, _: 0 * voice))
separated("constant", FAILED, PASSED)(spoken(lambda voice, _: 0 * voice + 0.5))
separated("one-voice-twice", FAILED, PASSED)(lambda _: [voices("")[0]] * 2)
separated("one-voice-and-the-mixture", FAILED, None)(lambda _: [voices("")[0], mixture()])
separated("first-half", FAILED, FAILED)(spoken(lambda voice, _: voice[: voice.size // 2]))
separated("backwards", FAILED, PASSED)(spoken(lambda voice, _: voice[::-1]))
separated("one-sample", FAILED, FAILED)(spoken(lambda voice, _: voice[:1]))
separated("no-samples", NOTHING, FAILED)(spoken(lambda voice, _: voice[:0]))
separated("one-file", NOTHING, NOTHING)(lambda _: voices("")[:1])
separated("three-files", FAILED, PASSED)(lambda _: [*voices(""), mixture()])
separated("not-numbers", NOTHING, None, subtype="FLOAT")(spoken(lambda voice, _: voice * math.nan))
separated("exact", PASSED, FAILED, subtype="DOUBLE")(spoken(lambda voice, _: voice))


@book.case("SpeechBrain_02", "beside-the-mixture", True, True)
def _(c: Desk) -> None:
    for number, voice in enumerate(voices(""), 1):
        soundfile.write(c.folder / f"output_{number:02d}.wav", voice, 8000)
    c.copy(c.inputs / "SpeechBrain_02_input.mp3", "mixture.mp3")


@book.case("SpeechBrain_02", "one-empty", False, False, NOTHING)
def _(c: Desk) -> None:
    soundfile.write(c.folder / "output_01.wav", voices("")[0], 8000)
    c.write("output_02.wav", b"")


@book.case("SpeechBrain_02", "one-garbage", False, False, FAILED)
def _(c: Desk) -> None:
    soundfile.write(c.folder / "output_01.wav", voices("")[0], 8000)
    c.write("output_02.wav", c.chance.bytes(4000))


@pytest.mark.parametrize("task", [task for task in book.tasks if task.startswith("FunASR")])
@pytest.mark.parametrize("reading", list(Reading))
def test_funasr(task: str, reading: Reading, tmp_path: Path) -> None:
    assert not book.complaints(task, tmp_path, reading)


@pytest.mark.parametrize("task", [task for task in book.tasks if task.startswith("SpeechBrain")])
@pytest.mark.parametrize("reading", list(Reading))
def test_speechbrain(task: str, reading: Reading, tmp_path: Path) -> None:
    assert not book.complaints(task, tmp_path, reading)
