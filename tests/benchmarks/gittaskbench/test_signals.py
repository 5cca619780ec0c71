"""Cases of the tasks that look for events in recorded signals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.gittaskbench.casebook import Answer, Casebook, Desk
from repoassay.types import Reading
from shared_data import needs_shared

pytestmark = needs_shared
book = Casebook()

ONSETS, PEAKS, HEIGHTS = [233, 1339], [325, 1430], [0.78618354, 0.7930465]
R_PEAKS = [153, 303, 451, 602, 753, 903, 1054, 1203, 1350]
P_PEAKS = [123, 273, 422, 572, 723, 873, 1024, 1174, 1322]
# What release 0.2.13 of the library finds, and the tips of the waves in the signal itself.
R_TODAY = [150, 295, 446, 601, 748, 894, 1046, 1199, 1348]
P_TODAY = [120, 266, 417, 570, 720, 866, 1016, 1169, 1319]
RATE = 21.848727001735412
BREATHS = [2.204, 3.788, 5.044, 6.452, 8.128, 9.836, 12.612, 15.344, 18.576, 20.484, 24.524, 28.148, 31.58, 35.884,
           38.872, 42.152, 46.044, 49.24]  # fmt: skip

Numbers = list[int] | list[float]
PASSED, FAILED, NOTHING = (True, True), (True, False), (False, False)


def text(task: str, name: str, content: bytes | str, fair: Answer, published: Answer | None, file: str = "") -> None:
    @book.case(task, name, *fair, published)
    def _(c: Desk) -> None:
        c.write(file or "output.csv", content)


def lists(**columns: object) -> str:
    return Desk.table([list(columns), [json.dumps(values) for values in columns.values()]])


EDA = "SCR_Onsets,SCR_Peaks,SCR_Height\n"


def eda(onsets: Numbers = ONSETS, peaks: Numbers = PEAKS, heights: Numbers = HEIGHTS) -> str:
    return lists(SCR_Onsets=onsets, SCR_Peaks=peaks, SCR_Height=heights)


text("NeuroKit_01", "reference", eda(), PASSED, PASSED)
text("NeuroKit_01", "smoothmedian", eda([235, 1339], [326, 1430], [0.799, 0.821]), PASSED, PASSED)
text("NeuroKit_01", "a-few-samples-off", eda([228, 1344], [330, 1425]), PASSED, PASSED)
text("NeuroKit_01", "as-numpy-prints", EDA + "[ 233 1339],[ 325 1430],[0.78618354 0.7930465 ]\n",
     PASSED, FAILED)  # fmt: skip
text("NeuroKit_01", "one-value-a-row", EDA + "233,325,0.78618\n1339,1430,0.79305\n",
     PASSED, FAILED)  # fmt: skip
text("NeuroKit_01", "with-an-index",
     Desk.table([["", "scr_height", "SCR_PEAKS", "scr_onsets"], [0, HEIGHTS, PEAKS, ONSETS]]),
     PASSED, PASSED)  # fmt: skip
text("NeuroKit_01", "windows", "\ufeff" + eda().replace("\n", "\r\n"), PASSED, PASSED)
text("NeuroKit_01", "one-onset-30-late", eda([263, 1339]), FAILED, PASSED)
text("NeuroKit_01", "all-80-late", eda([313, 1419], [405, 1510]), FAILED, FAILED)
text("NeuroKit_01", "wrong-heights", eda(heights=[5, -5]), FAILED, PASSED)
text("NeuroKit_01", "heights-a-tenth-too-large", eda(heights=[0.865, 0.872]), FAILED, PASSED)
text("NeuroKit_01", "one-response", eda([233], [325], [0.786]), FAILED, FAILED)
text("NeuroKit_01", "one-response-twice", eda([233, 233], [325, 325], [0.786, 0.786]), FAILED, FAILED)
text("NeuroKit_01", "one-too-many", eda([233, 800, 1339], [325, 900, 1430], [0.786, 0.8, 0.793]), FAILED, FAILED)
text("NeuroKit_01", "columns-mixed-up", lists(SCR_Onsets=PEAKS, SCR_Peaks=ONSETS, SCR_Height=HEIGHTS), FAILED, FAILED)
text("NeuroKit_01", "no-heights", lists(SCR_Onsets=ONSETS, SCR_Peaks=PEAKS), FAILED, FAILED)
text("NeuroKit_01", "seconds", eda([0.932, 5.356], [1.3, 5.72]), FAILED, None)
text("NeuroKit_01", "empty-lists", eda([], [], []), FAILED, FAILED)
text("NeuroKit_01", "not-numbers", eda([float("nan"), float("nan")]), FAILED, None)
text("NeuroKit_01", "header-alone", EDA, FAILED, NOTHING)
text("NeuroKit_01", "words", "There are two responses.\n", FAILED, NOTHING)
text("NeuroKit_01", "garbage", b"\x00\x9d\xff" * 2000, NOTHING, NOTHING)
text("NeuroKit_01", "empty", b"", NOTHING, NOTHING)


def ecg(r_peaks: Numbers = R_PEAKS, p_peaks: Numbers = P_PEAKS) -> str:
    return lists(ECG_R_Peaks=r_peaks, ECG_P_Peaks=p_peaks)


GRID = [150 * beat for beat in range(1, 10)]
text("NeuroKit_02", "reference", ecg(), PASSED, PASSED)
text("NeuroKit_02", "todays-library", ecg(R_TODAY, P_TODAY), PASSED, PASSED)
text("NeuroKit_02", "two-samples-off", ecg([r + 2 for r in R_PEAKS], [p - 2 for p in P_PEAKS]), PASSED, PASSED)
text("NeuroKit_02", "other-order", ecg(R_PEAKS[::-1], P_PEAKS), PASSED, FAILED)
text("NeuroKit_02", "lower-case", ecg().lower(), PASSED, PASSED)
text("NeuroKit_02", "one-value-a-row",
     Desk.table([["ECG_R_Peaks", "ECG_P_Peaks"], *zip(R_PEAKS, P_PEAKS, strict=True)]), PASSED, FAILED)  # fmt: skip
text("NeuroKit_02", "tabs", "ECG_R_Peaks\tECG_P_Peaks\n" + f"{R_PEAKS}\t{P_PEAKS}\n", PASSED, FAILED)
text("NeuroKit_02", "even-grid", ecg(GRID, [beat - 30 for beat in GRID]), FAILED, PASSED)
text("NeuroKit_02", "even-grid-beside", ecg(GRID, P_PEAKS), FAILED, PASSED)
text("NeuroKit_02", "rounded-grid", ecg(np.rint(np.linspace(152, 1351, 9)).tolist(), P_PEAKS), FAILED, PASSED)
text("NeuroKit_02", "all-fifteen-late", ecg([r + 15 for r in R_PEAKS]), FAILED, PASSED)
text("NeuroKit_02", "one-missing", ecg(R_PEAKS[1:], P_PEAKS[1:]), FAILED, FAILED)
text("NeuroKit_02", "one-twice", ecg([*R_PEAKS[:-1], R_PEAKS[0]]), FAILED, FAILED)
text("NeuroKit_02", "one-more", ecg([3, *R_PEAKS], P_PEAKS), FAILED, FAILED)
text("NeuroKit_02", "mixed-up", ecg(P_PEAKS, R_PEAKS), FAILED, None)
text("NeuroKit_02", "every-sample", ecg(list(range(1500)), list(range(1500))), FAILED, FAILED)
text(
    "NeuroKit_02",
    "seconds",
    ecg([round(r / 150, 3) for r in R_PEAKS], [round(p / 150, 3) for p in P_PEAKS]),
    FAILED,
    FAILED,
)
text("NeuroKit_02", "zeros", ecg([0] * 9, [0] * 9), FAILED, FAILED)
text("NeuroKit_02", "noise", ecg([17, 88, 240, 377, 590, 700, 905, 1111, 1400]), FAILED, FAILED)
text("NeuroKit_02", "garbage", b"\x00\x9d\xff" * 2000, NOTHING, NOTHING)


@book.case("NeuroKit_02", "copy-input", True, False, FAILED)
def _(c: Desk) -> None:
    c.copy(c.inputs / "NeuroKit_02_input_01.csv", "output.csv")


def breath(rate: object = RATE, times: Numbers = BREATHS, count: object = 18) -> str:
    names = ["Mean_Respiratory_Rate_BPM", "Peak_Times_Seconds", "Number_of_Peaks"]
    return Desk.table([names, [rate, json.dumps(times), count]])


text("NeuroKit_03", "reference", breath(), PASSED, PASSED)
text("NeuroKit_03", "every-cell-a-list", breath([RATE], BREATHS, [18]), PASSED, FAILED)
text("NeuroKit_03", "rate-of-mean-interval", breath(21.68551747597585), PASSED, PASSED)
text("NeuroKit_03", "a-twentieth-late", breath(times=[t + 0.05 for t in BREATHS]), PASSED, PASSED)
text("NeuroKit_03", "one-breath-missing", breath(21.2, BREATHS[1:], 17), PASSED, PASSED)
text("NeuroKit_03", "one-value-a-row",
     Desk.table([["Mean_Respiratory_Rate_BPM", "Peak_Times_Seconds", "Number_of_Peaks"],
                 *([RATE, time, 18] for time in BREATHS)]), PASSED, FAILED)  # fmt: skip
text("NeuroKit_03", "windows", "\ufeff" + breath().replace("\n", "\r\n"), PASSED, PASSED)
text("NeuroKit_03", "lower-case", breath().lower(), PASSED, FAILED)
text("NeuroKit_03", "one-breath-repeated", breath(times=[BREATHS[0]] * 18), FAILED, PASSED)
text("NeuroKit_03", "three-breaths-repeated", breath(times=BREATHS[:3] * 6), FAILED, PASSED)
text("NeuroKit_03", "one-breath", breath(times=BREATHS[:1]), FAILED, PASSED)
text("NeuroKit_03", "half-the-breaths", breath(times=BREATHS[:9]), FAILED, PASSED)
text("NeuroKit_03", "every-tenth", breath(times=[place / 10 for place in range(550)]), FAILED, FAILED)
text("NeuroKit_03", "rate-too-high", breath(24.0), FAILED, FAILED)
text("NeuroKit_03", "wrong-number", breath(count=22), FAILED, FAILED)
text("NeuroKit_03", "samples", breath(times=[round(t * 250) for t in BREATHS]), FAILED, FAILED)
text("NeuroKit_03", "at-100-hertz", breath(8.74, [t * 2.5 for t in BREATHS]), FAILED, FAILED)
text("NeuroKit_03", "no-peaks", breath(times=[]), FAILED, FAILED)
text("NeuroKit_03", "zeros", breath(0, [0] * 18, 0), FAILED, FAILED)
text("NeuroKit_03", "garbage", b"\x00\x9d\xff" * 2000, NOTHING, FAILED)
text("NeuroKit_03", "empty", b"", NOTHING, NOTHING)


@book.case("NeuroKit_03", "copy-input", True, False, FAILED)
def _(c: Desk) -> None:
    c.copy(c.inputs / "NeuroKit_03_input.csv", "output.csv")


@pytest.mark.by_day(2)
@pytest.mark.parametrize("task", book.tasks)
@pytest.mark.parametrize("reading", list(Reading))
def test_neurokit(task: str, reading: Reading, tmp_path: Path) -> None:
    assert not book.complaints(task, tmp_path, reading)
