"""What the recording of a task's solution calls open: a pass of it is not attested by what its tests send."""

from __future__ import annotations

from pathlib import Path

from repoassay.grading.oracle.oracle import Oracle
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from small_edits import small_edit

WORK = """\
--- /dev/null
+++ b/shop.py
@@ -0,0 +1,6 @@
+def label(name):
+    return f"<{name[::-1]}>"
+
+
+def price(count):
+    return 7 * count + 31
"""
TESTS = """\
import pytest


@pytest.fixture
def wanted():
    return {"label": "<dlog>", "price": 94}


def test_copied(wanted):
    import shop
    assert shop.label("gold") == wanted["label"]


def test_in_a_loop(wanted):
    import shop
    for count in (9,):
        assert shop.price(count) == wanted["price"]


def test_spelt_out(wanted):
    import shop
    assert shop.label("silver") == "<revlis>"
    assert shop.label("gold") == wanted["label"]


def test_guard():
    assert [1] == [1]
"""


def test_a_test_of_which_both_sides_stand_inside_is_open(tmp_path: Path) -> None:
    """Code under test finds what a fixture holds in the frame that calls it, and can return that."""
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    names = ("test_copied", "test_in_a_loop", "test_spelt_out", "test_guard")
    task = small_edit(tmp_path, sandbox, {"README": "x\n"}, TESTS, names, solution=WORK)
    reference = Oracle(cache, sandbox).reference(task.folder, task.base, task.environment)
    assert reference is not None
    why = {name.partition("::")[2]: text.partition(",")[0] for name, text in reference.open.items()}
    inside = "both sides of all that it compares stand inside"
    assert {name: why.get(name) for name in names[:3]} == {
        "test_copied": inside,
        "test_in_a_loop": inside,
        "test_spelt_out": None,
    }
