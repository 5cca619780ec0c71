"""A small SWE-bench row of our own, and the files that go with one."""

from __future__ import annotations

from typing import Any

__all__ = ["COMMIT", "PATCH", "SWE", "environment_of", "patch_of"]

COMMIT = "0123456789" * 4
PATCH = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"


def patch_of(path: str, old: str = "1", new: str = "2") -> str:
    """A diff as git writes it, of one line of one file."""
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


SWE: dict[str, Any] = {
    "instance_id": "pallets__flask-1",
    "repo": "pallets/flask",
    "base_commit": COMMIT,
    "patch": PATCH,
    "test_patch": patch_of("tests/test_old.py")
    + "diff --git a/tests/test_new.py b/tests/test_new.py\nnew file mode 100644\n--- /dev/null\n"
    "+++ b/tests/test_new.py\n@@ -0,0 +1,2 @@\n+def test_it():\n+    assert True\n",
    "problem_statement": "# It is not so\n\nMake it so.",
    "version": "2.3",
    "created_at": "2023-04-14T16:36:54Z",
    "fail_to_pass": ("tests/test_new.py::test_it",),
}


def environment_of(python: str) -> str:
    """An environment as conda freezes them."""
    return (
        "name: testbed\nchannels:\n  - defaults\ndependencies:\n  - ca-certificates=2024.9.24=h06a4308_0\n"
        "  - importlib-metadata=4.8.1=py36h06a4308_0\n  - importlib_metadata=4.8.1=hd3eb1b0_0\n"
        "  - libffi=3.4.4=h6a678d5_1\n  - matplotlib-base=3.3.4=py36h62a2d02_0\n"
        "  - numpy=1.19.2=nompi_py36h6163131_0\n"
        f"  - pip=24.2=py39h06a4308_0\n  - pyqt=5.9.2=py36h05f1152_2\n  - python={python}=he870216_1\n"
        "  - wheel=0.44.0=pyhd8ed1ab_0\n  - pip:\n      - numpy==1.25.2\n      - pytest==7.4.0\n"
        "prefix: /opt/miniconda3/envs/testbed\n"
    )
