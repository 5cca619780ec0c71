"""Runs in the sandbox: pytest, with every outcome and the coverage of given lines told on the channel as JSON lines.

Arguments: one JSON object with `arguments` for pytest, `lines` (file -> line numbers; empty for no coverage), and
`imports` (folders to import from).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Reporter:
    """Tells outcomes as they come. It shares its process with the tests, so a hostile one can tell what it likes."""

    def __init__(self, measured: Any) -> None:
        self.measured = measured
        self.count = 0
        self.channel = os.fdopen(os.dup(int(os.environ["REPOASSAY_CHANNEL"])), "w", encoding="utf-8")

    def tell(self, **what: Any) -> None:
        """Write one line."""
        self.count += 1
        if self.count <= 50_000:
            self.channel.write(json.dumps(what) + "\n")
            self.channel.flush()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Tell an outcome."""
        if report.when == "call" or report.outcome != "passed":
            outcome = "error" if report.when != "call" and report.failed else report.outcome
            if hasattr(report, "wasxfail"):
                outcome = "xfailed" if report.skipped else "xpassed"
            self.tell(test=report.nodeid[:1000], outcome=outcome, why=_last(report) if report.failed else "")

    def pytest_collectreport(self, report: Any) -> None:
        """Tell of a file that could not be collected."""
        if report.failed:
            self.tell(file=report.nodeid[:1000], why=_last(report))

    def pytest_runtest_setup(self, item: Any) -> None:
        """From here on, lines are this test's."""
        self._switch(item.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """From here on, lines are nobody's."""
        self._switch("")

    def _switch(self, name: str) -> None:
        if self.measured is not None:
            self.measured.switch_context(name)
            os.environ["REPOASSAY_TEST"] = name  # for processes that the test starts


def _add(data: Any, file: str) -> None:
    """Add what one process was seen to run."""
    import coverage

    try:
        child = coverage.CoverageData(basename=file)
        child.read()
        data.update(child)
    except Exception:  # noqa: BLE001, S110 - the process may have been killed as it wrote
        pass


def _last(report: Any) -> str:
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    if crash is not None:
        return str(crash.message).split("\n")[0][:300]
    lines = [line for line in str(getattr(report, "longreprtext", "")).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if line.startswith("E ")), lines[-1] if lines else "")[:300]


def main() -> None:
    """Run the tests and tell of them."""
    job = json.loads(sys.argv[1])
    import pytest

    if job["lines"]:
        import coverage
    # Only now, so that no file of the repository is taken for one of these; for what tests start, too.
    sys.path[:0] = job["imports"]
    os.environ["PYTHONPATH"] = os.pathsep.join(job["imports"])
    measured = None
    if job["lines"]:
        measured = coverage.Coverage(data_file=None, config_file=False, include=list(job["lines"]), messages=False)
        _measure_children(list(job["lines"]), coverage.__file__)
        measured.exclude("if (typing\\.)?TYPE_CHECKING:")
        measured.exclude("if __name__ == .__main__.:")
        measured.start()
    reporter = Reporter(measured)
    code = int(pytest.main(job["arguments"], plugins=[reporter]))
    if measured is not None:
        measured.stop()
        for file_lines in _covered(measured, job["lines"]):
            reporter.tell(**file_lines)
    reporter.count = 0
    reporter.tell(code=code)
    os._exit(0)


def _measure_children(files: list[str], package: str) -> None:
    """See to it that Python processes which tests start are measured too, and say which test started them."""
    site = Path("/signals/site")
    site.mkdir(exist_ok=True)
    site.joinpath("sitecustomize.py").write_text("import coverage\ncoverage.process_startup()\n")
    include = "".join(f"\n    {file}" for file in files)
    Path("/signals/coveragerc").write_text(
        "[run]\ndata_file = /signals/child\nparallel = true\nsigterm = true\ndisable_warnings = no-data-collected\n"
        f"context = ${{REPOASSAY_TEST-}}\ninclude = {include}\n"
    )
    os.environ["COVERAGE_PROCESS_START"] = "/signals/coveragerc"
    tools = str(Path(package).parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(site), os.environ["PYTHONPATH"], tools])


def _covered(measured: Any, lines: dict[str, list[int]]) -> Iterator[dict[str, Any]]:
    data = measured.get_data()
    for file in sorted(Path("/signals").glob("child.*"))[:5000]:
        _add(data, str(file))
    for path, wanted in lines.items():
        try:
            _, statements, _, missing, _ = measured.analysis2(path)
        except Exception as error:  # noqa: BLE001 - whatever a hostile file makes the parser raise
            yield {"unmeasured": path, "why": str(error)[:300]}
            continue
        here = set(wanted)
        contexts = data.contexts_by_lineno(path)
        tests = sorted({name for line in here for name in contexts.get(line, ()) if name})[:5000]
        yield {"covered": path, "lines": sorted(here & set(statements)), "missing": sorted(here & set(missing)),
               "tests": tests}  # fmt: skip


main()
