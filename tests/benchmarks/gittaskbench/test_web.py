"""Cases of the web tasks: listings of quotes, an article, a page as Markdown, and metadata."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest

from benchmarks.gittaskbench.casebook import Casebook, Desk
from repoassay.types import Reading
from shared_data import SHARED, needs_shared

pytestmark = needs_shared
book = Casebook()
case = book.case


def quotes() -> list[dict[str, str]]:
    """The twelve quotes of the listing."""
    lines = (SHARED / "data/groundtruth/Scrapy_01/gt.json").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def straight(text: str) -> str:
    return text.translate(str.maketrans("“”’", '""\''))


def windows(text: str) -> bytes:
    return b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()


def write_json(desk: Desk, data: Any) -> None:
    desk.write("output.json", json.dumps(data, ensure_ascii=False, indent=2))


@case("Scrapy_01", "reference", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.copy(desk.truth / "gt.json", "output.json")


@case("Scrapy_01", "reversed", True, True, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.json", desk.lines(quotes()[::-1]))


@case("Scrapy_01", "wrapped", True, True, (True, False))
def _(desk: Desk) -> None:
    write_json(desk, {"source": "quotes", "count": 12, "quotes": quotes()})


@case("Scrapy_01", "field-quote", True, True, (True, False))
def _(desk: Desk) -> None:
    write_json(desk, [{"quote": each["text"], "author": each["author"], "tags": ["humor"]} for each in quotes()])


@case("Scrapy_01", "author-object", True, True)
def _(desk: Desk) -> None:
    write_json(desk, [{"content": each["text"], "author": {"name": each["author"]}} for each in quotes()])


@case("Scrapy_01", "straight-quotes", True, True, (True, True))
def _(desk: Desk) -> None:
    write_json(desk, [{**each, "text": straight(each["text"])} for each in quotes()])


@case("Scrapy_01", "crlf-bom", True, True)
def _(desk: Desk) -> None:
    desk.write("output.json", windows(desk.lines(quotes())))


@case("Scrapy_01", "json-lines-file", True, True)
def _(desk: Desk) -> None:
    desk.write("output.jsonl", desk.lines({"name": each["author"], "content": each["text"]} for each in quotes()))


@case("Scrapy_01", "one-record", True, False, (True, True))
def _(desk: Desk) -> None:
    write_json(desk, quotes()[:1])


@case("Scrapy_01", "first-page", True, True, (True, True))
def _(desk: Desk) -> None:
    write_json(desk, quotes()[:10])


@case("Scrapy_01", "other-encoding", True, False)
def _(desk: Desk) -> None:
    write_json(desk, [{**each, "text": each["text"].encode().decode("cp1252", "replace")} for each in quotes()])


@case("Scrapy_01", "eight-of-ten", True, False, (True, True))
def _(desk: Desk) -> None:
    write_json(desk, quotes()[:8])


@case("Scrapy_01", "twice", True, False, (True, True))
def _(desk: Desk) -> None:
    write_json(desk, quotes() * 2)


@case("Scrapy_01", "three-wrong", True, False)
def _(desk: Desk) -> None:
    write_json(desk, [{"author": "Nobody", "text": "1234567890"}] * 3 + quotes()[3:])


@case("Scrapy_01", "authors-shuffled", True, False)
def _(desk: Desk) -> None:
    found = quotes()
    write_json(desk, [{"author": found[i - 5]["author"], "text": found[i]["text"]} for i in range(12)])


@case("Scrapy_01", "one-typo", True, True, (True, True))
def _(desk: Desk) -> None:
    found = quotes()
    found[3]["text"] = found[3]["text"].replace("beholder", "beholdr", 1)
    write_json(desk, found)


@case("Scrapy_01", "empty-list", True, False)
def _(desk: Desk) -> None:
    desk.write("output.json", "[]")


@case("Scrapy_01", "empty-file", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.json", "")


@case("Scrapy_01", "copy-input", False, False)
def _(desk: Desk) -> None:
    desk.copy(desk.inputs / "Scrapy_01_input.txt", "output.json")


@case("Scrapy_01", "deep", False, False)
def _(desk: Desk) -> None:
    desk.write("output.json", "[" * 5000 + "]" * 5000)


def rows(*columns: str) -> list[list[str]]:
    return [list(columns), *([each.get(name, "humor") for name in columns] for each in quotes())]


@case("Scrapy_02", "reference", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.copy(desk.truth / "gt.csv", "output.csv")


@case("Scrapy_02", "extra-column", True, True, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table(rows("text", "author", "tags")))


@case("Scrapy_02", "reordered", True, True, (True, False))
def _(desk: Desk) -> None:
    head, *body = rows("author", "text")
    desk.write("output.csv", desk.table([head, *body[::-1]]))


@case("Scrapy_02", "crlf-bom", True, True)
def _(desk: Desk) -> None:
    desk.write("output.csv", windows(desk.table(rows("author", "text"))))


@case("Scrapy_02", "capital-header-no-quotes", True, True)
def _(desk: Desk) -> None:
    body = [[author, straight(text).strip('" ')] for author, text in rows("author", "text")[1:]]
    desk.write("output.csv", desk.table([["Author", "Text"], *body]))


@case("Scrapy_02", "semicolons", True, True)
def _(desk: Desk) -> None:
    out = io.StringIO()
    csv.writer(out, delimiter=";").writerows(rows("author", "text"))
    desk.write("output.csv", out.getvalue())


@case("Scrapy_02", "one-row-author-only", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.csv", "author\nJane Austen\n")


@case("Scrapy_02", "header-only", True, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", "author,text\n")


@case("Scrapy_02", "first-page", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table(rows("author", "text")[:11]))


@case("Scrapy_02", "two-wrong", True, False)
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table([*rows("author", "text")[:11], ["A", "b"], ["C", "d"]]))


@case("Scrapy_02", "one-wrong", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table([*rows("author", "text")[:12], ["A", "b"]]))


@case("Scrapy_02", "authors-in-texts", True, False)
def _(desk: Desk) -> None:
    body = rows("author", "text")[1:]
    desk.write("output.csv", desk.table([["author", "text"], *([text, author] for author, text in body)]))


@case("Scrapy_02", "empty-file", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", "")


def as_xml(records: list[dict[str, str]], text: str = "text", root: str = "quotes") -> str:
    body = "".join(
        f"<quote><{text}>{escape(each['text'])}</{text}><author>{escape(each['author'])}</author></quote>"
        for each in records
    )
    return f'<?xml version="1.0" encoding="utf-8"?>\n<{root}>{body}</{root}>\n'


@case("Scrapy_03", "reference", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.copy(desk.truth / "gt.xml", "output.xml")


@case("Scrapy_03", "both-pages", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.xml", as_xml(quotes()))


@case("Scrapy_03", "attributes", True, True)
def _(desk: Desk) -> None:
    body = "".join(f"<q author={quoteattr(q['author'])} text={quoteattr(q['text'])}/>" for q in quotes())
    desk.write("output.xml", f"<page name='humor'>{body}</page>")


@case("Scrapy_03", "text-in-quote", True, True)
def _(desk: Desk) -> None:
    body = "".join(f"<quote author={quoteattr(q['author'])}>{escape(q['text'])}</quote>" for q in quotes())
    desk.write("output.xml", f"<quotes>{body}</quotes>")


@case("Scrapy_03", "other-tags-crlf-bom", True, True)
def _(desk: Desk) -> None:
    desk.write("output.xml", windows(as_xml(quotes()[:10], "content", "items").replace("><", ">\n  <")))


@case("Scrapy_03", "no-quote-signs", True, True, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.xml", as_xml([{**each, "text": straight(each["text"]).strip('" ')} for each in quotes()]))


@case("Scrapy_03", "one-quote", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.xml", as_xml(quotes()[:1]))


@case("Scrapy_03", "twice", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.xml", as_xml(quotes() + quotes()))


@case("Scrapy_03", "no-records", True, False)
def _(desk: Desk) -> None:
    desk.write("output.xml", "<quotes/>")


@case("Scrapy_03", "cut-off", False, False)
def _(desk: Desk) -> None:
    desk.write("output.xml", as_xml(quotes())[:-60])


@case("Scrapy_03", "billion-laughs", False, False)
def _(desk: Desk) -> None:
    levels = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(9))
    desk.write("output.xml", f'<!DOCTYPE q [<!ENTITY e0 "ha">{levels}]><quotes><quote>&e9;</quote></quotes>')


@case("Scrapy_03", "external-entity", False, False)
def _(desk: Desk) -> None:
    desk.write("output.xml", '<!DOCTYPE q [<!ENTITY e SYSTEM "file:///etc/passwd">]><quotes><text>&e;</text></quotes>')


@case("Scrapy_03", "empty-file", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.xml", "")


def truth(desk: Desk, name: str = "gt.txt") -> list[str]:
    return desk.text(name).splitlines()


@case("Trafilatura_01", "reference", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.copy(desk.truth / "gt.txt", "output.txt")


@case("Trafilatura_01", "body-alone", True, True, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", "\n".join(truth(desk)[11:38]))


@case("Trafilatura_01", "markdown", True, True)
def _(desk: Desk) -> None:
    lines = truth(desk)
    text = "\n".join([f"# {lines[0]}", "", *(f"## {line}" if line.endswith("?") else line for line in lines[1:50])])
    desk.write("output.txt", text.replace("on GitHub or Twitter", "on [GitHub](https://a.b) or [Twitter](https://c.d)"))


@case("Trafilatura_01", "crlf-bom", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", windows(desk.text("gt.txt")))


@case("Trafilatura_01", "half", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", desk.text("gt.txt")[:2800])


@case("Trafilatura_01", "last-answers-missing", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", "\n".join(truth(desk)[:27]))


@case("Trafilatura_01", "twice", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", desk.text("gt.txt") * 2)


@case("Trafilatura_01", "words-shuffled", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", " ".join(desk.chance.permutation(desk.text("gt.txt").split())))


@case("Trafilatura_01", "copy-input", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.copy(desk.inputs / "Trafilatura_01_input.txt", "output.txt")


@case("Trafilatura_01", "empty-file", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", "")


@case("Trafilatura_02", "reference", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.copy(desk.truth / "gt.md", "output.md")


@case("Trafilatura_02", "headings", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.md", f"# 市场\n\n- **{desk.text('gt.md')}**\n\n[更多](https://finance.sina.com.cn/)\n")


@case("Trafilatura_02", "gb18030", True, True)
def _(desk: Desk) -> None:
    desk.write("output.md", desk.text("gt.md").encode("gb18030"))


@case("Trafilatura_02", "a-fifth-wrong", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.md", "".join("某" if desk.chance.random() < 0.2 else sign for sign in desk.text("gt.md")))


@case("Trafilatura_02", "first-half", True, False)
def _(desk: Desk) -> None:
    desk.write("output.md", desk.text("gt.md")[:110])


@case("Trafilatura_02", "shuffled", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.md", "".join(desk.chance.permutation(list(desk.text("gt.md")))))


@case("Trafilatura_02", "html", True, False)
def _(desk: Desk) -> None:
    desk.write("output.md", f"<html><body><p>{desk.text('gt.md')}</p></body></html>")


@case("Trafilatura_02", "buried", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.md", desk.text("gt.md") + "导航 首页 股票 基金 " * 100)


@case("Trafilatura_02", "empty-file", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.md", "")


URL = "https://www.cnprose.com/article-detail/WJaljpMN"


def metadata(
    title: str = "旅云：赛里木湖", author: str = "中国散文网", date: str = "2025-02-21", url: str = URL
) -> str:
    return f"title:{title}\nauthor:{author}\ndate:{date}\nurl:{url}\n"


@case("Trafilatura_03", "reference", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.copy(desk.truth / "gt.txt", "output.txt")


@case("Trafilatura_03", "full-width", True, True)
def _(desk: Desk) -> None:
    desk.write("output.txt", f"标题：旅云：赛里木湖\n作者：中国散文网\n日期：2025年2月21日\n网址：{URL}/\n")


@case("Trafilatura_03", "more-fields", True, True)
def _(desk: Desk) -> None:
    text = metadata(date="2025-02-21T00:00:00") + "sitename: 中国散文网\nlanguage: zh\ndescription: None\n"
    desk.write("output.txt", text.replace("title", "Title").replace("author", "**Author**"))


@case("Trafilatura_03", "gb18030", True, True)
def _(desk: Desk) -> None:
    desk.write("output.txt", metadata().encode("gb18030"))


@case("Trafilatura_03", "keys-and-address", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", metadata("", "", ""))


@case("Trafilatura_03", "wrong-date", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", metadata(date="2025-02-22"))


@case("Trafilatura_03", "no-author", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", metadata(author="None"))


@case("Trafilatura_03", "every-character", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", "".join(sorted(set(desk.text("gt.txt")))))


@case("Trafilatura_03", "empty-file", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", "")


@pytest.mark.by_day(4)
@pytest.mark.parametrize("task", book.tasks)
@pytest.mark.parametrize("reading", list(Reading), ids=str)
def test_verdicts(task: str, reading: Reading, tmp_path: Path) -> None:
    assert book.complaints(task, tmp_path, reading) == []
