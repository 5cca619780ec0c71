import pytest
import tomlkit
from tomlkit.exceptions import ParseError

DOCUMENT = """
title = "x"
a.b = 1

[tool."my.app"]
name = "demo"
"" = "empty"
point = {x = 1, y.z = 2}

[[list]]
n = 1

[fruit]
[animal]
[fruit.apple]
colour = "red"
"""


@pytest.fixture
def doc():
    return tomlkit.parse(DOCUMENT)


def test_plain_and_dotted(doc):
    assert tomlkit.lookup(doc, "title") == "x"
    assert tomlkit.lookup(doc, "a.b") == 1
    assert tomlkit.lookup(doc, " a . b ") == 1


def test_quoted(doc):
    assert tomlkit.lookup(doc, 'tool."my.app".name') == "demo"
    assert tomlkit.lookup(doc, "tool . 'my.app' . name") == "demo"
    assert tomlkit.lookup(doc, "tool.'my.app'.''") == "empty"


def test_escapes_in_quoted_parts(doc):
    assert tomlkit.lookup(doc, '"t\\u0069tle"') == "x"


def test_inline_tables(doc):
    assert int(tomlkit.lookup(doc, 'tool."my.app".point.x')) == 1
    assert int(tomlkit.lookup(doc, 'tool."my.app".point.y.z')) == 2


def test_tables_out_of_order(doc):
    assert tomlkit.lookup(doc, "fruit.apple.colour") == "red"


def test_default(doc):
    assert tomlkit.lookup(doc, "absent") is None
    assert tomlkit.lookup(doc, "tool.my.app.name", "none") == "none"
    assert tomlkit.lookup(doc, "title.x", default=0) == 0
    assert tomlkit.lookup(doc, "list.n", default=0) == 0


def test_only_a_table_of_that_name(doc):
    assert tomlkit.lookup(doc["tool"], '"my.app".name') == "demo"
    assert tomlkit.lookup({"a": {"b": 2}}, "a.b") == 2


def test_tables_come_back_as_they_are(doc):
    tomlkit.lookup(doc, 'tool."my.app"')["name"] = "changed"
    assert doc["tool"]["my.app"]["name"] == "changed"
    assert 'name = "changed"' in doc.as_string()


@pytest.mark.parametrize("key", ["", "a.", ".a", "a..b", "a b", "a = 1", "'a", "a # b"])
def test_malformed(doc, key):
    with pytest.raises(ParseError):
        tomlkit.lookup(doc, key)


def test_exported():
    assert sorted({"lookup"} & set(tomlkit.__all__)) == ["lookup"]


def test_parsing_is_as_before(doc):
    assert doc.as_string() == DOCUMENT
    assert doc["tool"]["my.app"]["name"] == "demo"
