"""The mutant battery on the suite's tasks: no right variant is refused, and no wrong text, table or sound accepted.

Pictures and videos have survivors, which docs/gittaskbench/mutants.md lists.
"""

from __future__ import annotations

import pytest

from repoassay.engine import GradingContext, prove_mutants
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import find_suite
from shared_data import needs_shared

pytestmark = [needs_shared, pytest.mark.exhaustive]
SOUND = (
    "Eparse", "Faker", "FunASR", "NeuroKit", "PDFPlumber", "PyPDF2", "Scrapy", "SpeechBrain", "Trafilatura",
    "VideoPose3D",
)  # fmt: skip
SEEN = ("DeScratch", "InvisibleWatermark", "Stegano", "StyleTransfer", "SuperResolution", "TransparentBackground")


@pytest.mark.parametrize("family", [*SOUND, *SEEN])
def test_right_variants_are_accepted_and_wrong_ones_that_are_no_pictures_refused(family: str) -> None:
    suite = find_suite("gittaskbench", only=[f"{family}_*"])
    cache = Cache()
    bench = GradingContext(suite.repositories, cache, open_sandbox("namespaces", cache))
    for folder in suite.tasks:
        if not folder.solution.is_dir():  # its references are not in the data
            continue
        battery = prove_mutants(folder, bench, 1000 if family in SOUND else 12).battery
        assert battery is not None
        assert battery.mutants, battery.why
        assert not battery.refused, str(battery)
        assert family not in SOUND or battery.sound, str(battery)
