"""What templates make of values out of a plan, which a stranger may have written."""

from __future__ import annotations

import pytest

from repoassay.report.templating import environment


@pytest.mark.parametrize("digits", [20, 400, 5000])
def test_a_size_that_no_machine_has_is_shown_as_it_stands(digits: int) -> None:
    said = "9" * digits + " bytes"
    assert environment().filters["host_fact"](said) == said


def test_bytes_of_a_machine_are_shown_as_one_reads_them() -> None:
    assert environment().filters["host_fact"]("16000000000 bytes") == "16.0 GB"
    assert environment().filters["host_fact"]("Linux 6.1") == "Linux 6.1"
