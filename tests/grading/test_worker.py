"""Many tasks in one sandbox: order, company that misbehaves, limits of each, and what is lacking."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from repoassay.errors import InfraFault
from repoassay.grading.deliverable import LIMITS, Job, grade_deliverables
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite
from repoassay.types import Outcome


@pytest.fixture(scope="session", params=["namespaces", "none"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return open_sandbox(request.param, Cache())


def task(name: str) -> TaskFolder:
    return find_suite("starter", only=[name]).tasks[0]


def good(place: Path) -> Job:
    daily = task("sensor-log-daily")
    place.mkdir()
    shutil.copyfile(daily.tests / "daily.csv", place / "daily.csv")
    return Job(daily, place)


def slow_workbook(place: Path) -> Job:
    place.mkdir()
    with zipfile.ZipFile(place / "report.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        row = "<row>" + "".join(f'<c r="A{n}" t="inlineStr"><is><t>x</t></is></c>' for n in range(1, 60)) + "</row>"
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", row * 60_000)
    return Job(task("workbook-budget-build"), place)


def huge_image(place: Path) -> Job:
    import io

    from PIL import Image

    place.mkdir()
    folder = task("photo-web-set")
    for name in folder.task.outputs.files:
        stream = io.BytesIO()
        Image.new("L", (30_000, 2_000)).save(stream, "PNG")
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(stream.getvalue())
    return Job(folder, place)


@pytest.mark.parametrize("workers", [1, pytest.param(3, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(
    "sandbox", ["namespaces", pytest.param("none", marks=pytest.mark.exhaustive)], indirect=True, scope="session"
)
def test_bad_company_costs_nobody_else_anything(tmp_path: Path, sandbox: Sandbox, workers: int) -> None:
    """Nor do verdicts come in another order, however many are measured at a time."""
    jobs = [good(tmp_path / "a"), slow_workbook(tmp_path / "b"), good(tmp_path / "c"), huge_image(tmp_path / "d"),
            good(tmp_path / "e"), Job(task("sensor-log-daily"), tmp_path / "absent")]  # fmt: skip
    limits = LIMITS.model_copy(update={"seconds": 4.0, "memory": 400 * 2**20})
    found = list(grade_deliverables(jobs, sandbox, workers=workers, limits=limits))
    assert [each.job for each in found] == jobs
    outcomes = [each.verdict().outcome for each in found]
    assert outcomes[::2] == [Outcome.PASSED] * 3
    assert outcomes[1] is Outcome.NO_OUTPUT
    assert outcomes[3] in (Outcome.NO_OUTPUT, Outcome.FAILED)
    assert outcomes[5] is Outcome.NO_OUTPUT


def test_a_fault_of_ours_is_that_tasks_alone(tmp_path: Path, sandbox: Sandbox) -> None:
    from repoassay.tasks import read_task

    daily = task("sensor-log-daily")
    copy = tmp_path / daily.task.id
    shutil.copytree(daily.path, copy)
    (copy / "tests/daily.csv").write_bytes(b"\xff\xfe\0")
    repositories = daily.path.parents[1] / "repositories"
    broken = Job(read_task(copy, repositories=repositories), good(tmp_path / "x").outputs)
    first, second = grade_deliverables([broken, good(tmp_path / "y")], sandbox)
    assert isinstance(first.result, InfraFault)
    assert second.verdict().outcome is Outcome.PASSED


def test_nothing_to_grade_needs_no_sandbox(tmp_path: Path, sandbox: Sandbox) -> None:
    assert not list(grade_deliverables([], sandbox))
    (tmp_path / "empty").mkdir()
    found = list(grade_deliverables([Job(task("sensor-log-daily"), tmp_path / "empty")], sandbox))
    assert found[0].verdict().comments == ("daily.csv: missing.",)
