import humanize
import pytest


@pytest.mark.parametrize(("style", "exponent", "size"), [
    ("decimal", 1, 3000),
    ("decimal", 2, 3000000),
    ("decimal", 3, 3000000000),
    ("decimal", 4, 3000000000000),
    ("decimal", 5, 3000000000000000),
    ("decimal", 6, 3000000000000000000),
    ("decimal", 7, 3000000000000000000000),
    ("decimal", 8, 3000000000000000000000000),
    ("decimal", 9, 3000000000000000000000000000),
    ("decimal", 10, 3000000000000000000000000000000),
    ("binary", 1, 3072),
    ("binary", 2, 3145728),
    ("binary", 3, 3221225472),
    ("binary", 4, 3298534883328),
    ("binary", 5, 3377699720527872),
    ("binary", 6, 3458764513820540928),
    ("binary", 7, 3541774862152233910272),
    ("binary", 8, 3626777458843887524118528),
    ("binary", 9, 3713820117856140824697372672),
    ("binary", 10, 3802951800684688204490109616128),
    ("gnu", 1, 3072),
    ("gnu", 2, 3145728),
    ("gnu", 3, 3221225472),
    ("gnu", 4, 3298534883328),
    ("gnu", 5, 3377699720527872),
    ("gnu", 6, 3458764513820540928),
    ("gnu", 7, 3541774862152233910272),
    ("gnu", 8, 3626777458843887524118528),
    ("gnu", 9, 3713820117856140824697372672),
    ("gnu", 10, 3802951800684688204490109616128),
])
def test_every_unit_of_every_style(style, exponent, size):
    given = 3 * (1000 if style == "decimal" else 1024) ** exponent
    text = humanize.naturalsize(given, binary=style == "binary", gnu=style == "gnu")
    assert humanize.parse_size(text) == size


def test_bytes():
    assert humanize.parse_size("1 Byte") == 1
    assert humanize.parse_size("300 Bytes") == 300
    assert humanize.parse_size("0 Bytes") == 0
    assert humanize.parse_size("300B") == 300


def test_no_unit():
    assert humanize.parse_size("1234") == 1234


def test_negative():
    assert humanize.parse_size("-4.0 kB") == -4000


def test_case_spaces_and_commas():
    assert humanize.parse_size("3.0mb") == 3000000
    assert humanize.parse_size("3 MIB") == 3145728
    assert humanize.parse_size("  1,234.5 kB ") == 1234500


def test_lone_k_is_gnu():
    assert humanize.parse_size("2.5K") == 2560
    assert humanize.parse_size("2.5k") == 2560


def test_int_comes_back():
    found = humanize.parse_size("1.5 kB")
    assert [type(found).__name__, found] == ["int", 1500]


def test_large_sizes_are_exact():
    assert humanize.parse_size("1.1 QB") == 1100000000000000000000000000000


@pytest.mark.parametrize("text", ["", "kB", "1 parsec", "1 k B", "1.2.3 kB", "one MB", "nan", "inf"], ids=repr)
def test_refused(text):
    with pytest.raises(ValueError):
        humanize.parse_size(text)


def test_module_and_export():
    from humanize import parsing

    assert parsing.parse_size is humanize.parse_size
    assert sorted({"parse_size"} & set(humanize.__all__)) == ["parse_size"]


def test_naturalsize_is_as_before():
    assert humanize.naturalsize(3000000) == "3.0 MB"
    assert humanize.naturalsize(1024, gnu=True) == "1.0K"
