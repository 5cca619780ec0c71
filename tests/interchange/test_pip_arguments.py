"""What lies in the image is installed by the build; what has a name is a package of the environment."""

from __future__ import annotations

import pytest

from repoassay.interchange.shell_steps import read_shell


@pytest.mark.parametrize(
    ("line", "pip", "build"),
    [
        ("cd lib && pip install -e . && rm x", [], ["cd lib && uv pip install -e . && rm x"]),
        ("pip install --no-deps '.[dev]' six==1.17.0", ["six==1.17.0"], ["uv pip install --no-deps '.[dev]'"]),
        ("pip install /tmp/w/*.whl 2>&1 | tail -3 || true", [], ["uv pip install /tmp/w/*.whl"]),
        ("pip install six | cat", ["six"], []),
    ],
)
def test_folders_are_installed_by_the_build(line: str, pip: list[str], build: list[str]) -> None:
    steps = read_shell(line)
    assert (steps.pip, steps.build) == (pip, build)


@pytest.mark.parametrize("what", ["git+https://example.org/x", "-e git+https://example.org/x", "'x @ https://a/x.whl'"])
def test_addresses_are_refused(what: str) -> None:
    with pytest.raises(ValueError, match="from an address"):
        read_shell(f"pip install {what}")
