import humanize
import pytest


@pytest.mark.parametrize("exponent", range(1, 11))
@pytest.mark.parametrize("style", ["decimal", "binary", "gnu"])
def test_every_unit_of_every_style(style, exponent):
    size = 3 * (1000 if style == "decimal" else 1024) ** exponent
    options = {} if style == "decimal" else {style: True}
    assert humanize.parse_size(humanize.naturalsize(size, **options)) == size


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
