"""XML that is well-formed, and XML that wants to reach out or blow up."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.benchmarks.gittaskbench.metrics.markup import local_name, read_xml, spoken
from repoassay.grading.protocol import UnreadableOutput


def put(folder: Path, content: str | bytes) -> Path:
    path = folder / "output.xml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_text_and_tags(tmp_path: Path, encoding: str) -> None:
    name = encoding.removesuffix("-sig")
    start = f"<?xml version='1.0' encoding='{name}'?>"
    text = f"{start}\n<a xmlns='urn:x'>été<b k='v'> and <c>more</c></b>\n<!-- no --> end</a>"
    root = read_xml(put(tmp_path, text.encode(encoding)))
    assert [local_name(element.tag) for element in root.iter()] == ["a", "b", "c"]
    assert " ".join(spoken(root).split()) == "été and more end"


@pytest.mark.parametrize(("tag", "name"), [("a", "a"), ("{urn:x}a", "a"), ("{}a", "a"), ("", ""), (None, "None")])
def test_names_without_their_space(tag: object, name: str) -> None:
    assert local_name(tag) == name


def laughs() -> str:
    steps = "".join(f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>" for i in range(9))
    return f"<!DOCTYPE x [<!ENTITY a 'ha'>{steps}]><x>&j;</x>"


@pytest.mark.parametrize(
    "content",
    [
        "",
        " \n",
        "words",
        "<a>",
        "<a></b>",
        "<a/><b/>",
        "<a k=1/>",
        "<a>&nbsp;</a>",
        b"<a>\xff\xfe</a>",
        b"<a>\0</a>",
        laughs(),
        "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>",
        "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/hostname'>]><a>&b;</a>",
        "<!DOCTYPE a [<!ENTITY % b SYSTEM 'file:///etc/hostname'> %b;]><a/>",
        "<a>" * 100_000,
        "<a>" * 201 + "</a>" * 201,
        "<a>" + "<b/>" * 200_001 + "<c><d/></c></a>",
        "<a>" + "x" * (4 * 2**20) + "</a>",
    ],
    ids=range(18),
)
def test_hostile_documents(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(UnreadableOutput):
        read_xml(put(tmp_path, content))


def test_as_deep_as_is_allowed(tmp_path: Path) -> None:
    root = read_xml(put(tmp_path, "<a>" * 200 + "deep" + "</a>" * 200))
    assert spoken(root) == "deep"
