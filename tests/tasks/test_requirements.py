"""Requirements files hold exact versions with digests, or are refused line by line."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from repoassay.tasks.requirements import check_requirements

HASH = "--hash=sha256:" + "0a" * 32


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n\n",
        f"six==1.17.0 {HASH}",
        f"six==1.17.0 \\\n    {HASH} \\\n    {HASH}\n    # via x\n",
        f"python-dateutil[a,b] == 2.9.0.post0 ; python_version >= '3.8' {HASH}  # why",
        f"A.b_c==1!2.0+local.1;sys_platform=='linux' {HASH}\r\n",
    ],
)
def test_pinned(text: str) -> None:
    assert list(check_requirements(text.encode(), "r.txt")) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("six", "'six' is not pinned"),
        (f"six>=1 {HASH}", "'six' is not pinned"),
        (f"six==1.* {HASH}", "'six' is not pinned"),
        (f"six===1 {HASH}", "'six' is not pinned"),
        (f"six==1,<2 {HASH}", "'six' is not pinned"),
        ("six==1", "'six' has no --hash"),
        ("six==1 --hash=md5:00", "which is no sha256 digest"),
        (f"six==1 {HASH}0", "which is no sha256 digest"),
        (f"six==1 {HASH} --hash=sha512:00", "which is no sha256 digest"),
        (f"six @ https://example.org/six.whl {HASH}", "'six' is not pinned"),
        (f"six==1 other {HASH}", "followed by 'other'"),
        ("-r /etc/passwd", "'-r' is an option"),
        ("-e .", "'-e' is an option"),
        ("--find-links https://example.org", "'--find-links' is an option"),
        (f"./six.whl {HASH}", "does not start with the name"),
        ("https://example.org/six.whl", "is not pinned"),
    ],
)
def test_not_pinned(text: str, words: str) -> None:
    problems = list(check_requirements(f"# first\n{text}\n".encode(), "r.txt"))
    assert len(problems) == 1
    assert words in problems[0].what
    assert problems[0].key == "line 2"
    assert "uv pip compile --generate-hashes" in problems[0].remedy


@given(st.binary(max_size=300))
def test_any_bytes(junk: bytes) -> None:
    for problem in check_requirements(junk, "r.txt"):
        assert str(problem).isprintable()
