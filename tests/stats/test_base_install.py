"""The base install has neither numpy nor scipy, and everything a comparison prints."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
for name in ("numpy", "scipy", "statsmodels"):
    sys.modules[name] = None
from repoassay import stats
from repoassay.errors import MissingExtra
assert stats.mcnemar(4, 0, 15).p_value == 0.125
assert stats.clopper_pearson(4, 15).defined and stats.tango(4, 0, 15).defined
assert stats.clustered_mean([[1, 0], [1, 1]]).half_t
assert stats.paired_permutation([1.0, 0.5]).p_value == 0.5
assert stats.krippendorff_alpha([[1, 1], [2, 2]]).value == 1
for call in (lambda: stats.fisher((1, 2), (0, 2)), lambda: stats.pearson([1, 2, 3], [1, 2, 4])):
    try:
        call()
    except MissingExtra as error:
        assert "repoassay[stats]" in str(error)
    else:
        raise AssertionError
"""


def test_it_works_without_scipy() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
