"""What GitTaskBench's scripts for DeScratch decide (arXiv 2508.18993, scripts as of July 2025)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.original_criteria.verified import verified
from repoassay.grading import (
    Measurement,
    UnreadableOutput,
    content,
    mapped,
    metric,
    need,
    raster,
    structural_similarity,
)

__all__ = ["gtb_descratch_01", "gtb_descratch_02", "gtb_descratch_03"]

_PACKAGES = ("numpy", "pillow", "opencv-python-headless")
_MASKS = (".png", ".jpg", ".jpeg")


@metric(
    "gtb_descratch_01",
    unit="score",
    span="[0, inf)",
    better="lower",
    source="GitTaskBench, script of DeScratch_01",
    packages=_PACKAGES,
)
def gtb_descratch_01(of: Path) -> Measurement:
    """Long straight lines: their number, mean length and the spread of their grey, over size; 0 when there are none."""
    numpy, cv2 = need("numpy"), need("cv2")
    verified(of)
    try:
        grey = raster(of, "L")
    except UnreadableOutput as error:
        return Measurement(float("nan"), str(error))
    edges = cv2.Canny(cv2.GaussianBlur(grey, (5, 5), 0), 50, 150)
    lines = cv2.HoughLinesP(edges, 1, numpy.pi / 180, 50, minLineLength=50, maxLineGap=10)
    if lines is None:
        return Measurement(0.0, "no lines")
    ends = lines.reshape(-1, 4)
    lengths = numpy.hypot(ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1])
    greys = [_along(grey, *line) for line in ends]
    score = len(ends) * float(lengths.mean()) * float(numpy.std(greys)) / (3 * grey.size * 255)
    return Measurement(score, f"{len(ends)} lines")


def _along(grey: Any, x: int, y: int, to_x: int, to_y: int) -> float:
    """Mean grey along a line, one point a pixel of its length, cut down to whole coordinates."""
    numpy = need("numpy")
    points = int(numpy.hypot(to_x - x, to_y - y))
    columns = numpy.linspace(x, to_x, points).astype(int)
    rows = numpy.linspace(y, to_y, points).astype(int)
    return float(grey[rows, columns].mean())


@metric(
    "gtb_descratch_02",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, script of DeScratch_02",
    packages=_PACKAGES,
)
def gtb_descratch_02(of: Path, against: Path) -> Measurement:
    """1 when IoU is at least 0.5 and Dice at least 0.6; the first `output.` with a picture's suffix is taken.

    `of` is the folder. Another size, or a file that does not open, ends the script: the harness books Process false.
    """
    found = [path for path in _outputs(of) if path.suffix.lower() in _MASKS]
    if not found:
        raise UnreadableOutput("there is no output.png, .jpg or .jpeg")
    ours, theirs = raster(found[0], "L") > 128, raster(against, "L") > 128
    if ours.shape != theirs.shape:
        raise UnreadableOutput("its size is not the reference's, over which the script crashes")
    both, either = int((ours & theirs).sum()), int((ours | theirs).sum())
    iou = both / either if either else 1.0
    dice = 2 * both / int(ours.sum() + theirs.sum()) if either else 1.0
    return Measurement(float(iou >= 0.5 and dice >= 0.6), f"IoU {iou:.3f}, Dice {dice:.3f}")


@metric(
    "gtb_descratch_03",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, script of DeScratch_03",
    packages=_PACKAGES,
)
def gtb_descratch_03(of: Path, against: Path) -> Measurement:
    """1 when grey SSIM is at least 0.65 and PSNR at least 15 dB after resizing; exactly one `output.*` may stand there.

    `of` is the folder.
    """
    found = _outputs(of)
    if len(found) != 1:
        raise UnreadableOutput(f"{len(found)} files are called output.*")
    cv2 = need("cv2")
    ours, theirs = _by_opencv(found[0]), _by_opencv(against)
    ours = cv2.resize(ours, (theirs.shape[1], theirs.shape[0]))
    first, second = (cv2.cvtColor(each, cv2.COLOR_BGR2GRAY) for each in (ours, theirs))
    likeness = structural_similarity(first, second)
    error = float(((first.astype(float) - second) ** 2).mean())
    ratio = 10 * float(need("numpy").log10(255**2 / error)) if error else float("inf")
    return Measurement(float(likeness >= 0.65 and ratio >= 15), f"SSIM {likeness:.4f}, PSNR {ratio:.2f}")


def _outputs(folder: Path) -> list[Path]:
    """Regular files called `output.*`, by name."""
    try:
        return sorted(
            path
            for path in folder.iterdir()
            if path.name.startswith("output.") and path.is_file() and not path.is_symlink()
        )
    except OSError:
        return []


def _by_opencv(path: Path) -> Any:
    """A picture as OpenCV reads it, (height, width, 3) of uint8 in BGR order."""
    numpy, cv2, image = need("numpy"), need("cv2"), need("PIL.Image")
    data = content(path, 256 * 2**20)
    with mapped("an image"):
        with image.open(path) as opened:  # its size alone, before OpenCV takes memory for it
            if opened.width * opened.height > 64_000_000:
                raise UnreadableOutput("it has too many pixels")
        found = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
    if found is None:
        raise UnreadableOutput("OpenCV does not open it")
    return found
