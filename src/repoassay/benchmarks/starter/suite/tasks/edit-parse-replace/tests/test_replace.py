import pytest

import parse


def test_template_with_named_fields():
    text = parse.replace("[{year:d}/{month:d}]", "{month:02d}.{year}", "from [2021/3] to [2022/11]!")
    assert text == "from 03.2021 to 11.2022!"


def test_template_with_fixed_fields():
    assert parse.replace("<{}>", "({})", "a <b> c <d e> f") == "a (b) c (d e) f"
    assert parse.replace("<{}:{}>", "{1}/{0}{0}", "<k:v>, <m:n>") == "v/kk, n/mm"


def test_template_with_both_kinds():
    assert parse.replace("<{}={x:d}>", "{x:>3}{0}", "<a=1><b=22>") == "  1a 22b"


def test_template_uses_the_converted_values():
    assert parse.replace("#{:x}#", "{:d}", "#ff# #10#") == "255 16"
    assert parse.replace("<{:%}>", "{:.2f}", "<50%> <7.5%>") == "0.50 0.07"
    assert parse.replace("on {d:%Y-%m-%d}.", "on {d:%d/%m/%y}.", "on 2024-02-29.") == "on 29/02/24."


def test_template_may_escape_braces():
    assert parse.replace("<{n:d}>", "{{{n}}}", "<1><2>") == "{1}{2}"


def test_template_may_use_index_names():
    assert parse.replace("<{q[a]} {q[b]}>", "{q[b]} {q[a]}", "<one two>") == "two one"


def test_function():
    seen = []

    def double(result):
        seen.append(result.named)
        return str(result["n"] * 2)

    assert parse.replace("<{n:d}>", double, "<1> <20> 3") == "2 40 3"
    assert seen == [{"n": 1}, {"n": 20}]


def test_function_result_is_taken_literally():
    assert parse.replace("<{}>", lambda result: r"\1 {0} \g<0>", "a<b>c") == r"a\1 {0} \g<0>c"
    assert parse.replace("<{}>", r"\1{}\n", "a<b>c") == r"a\1b\nc"


def test_spans_are_those_of_the_string():
    spans = []
    parse.replace("<{}>", lambda result: spans.append(result.spans[0]) or "", "ab<cd>ef<g>")
    assert spans == [(3, 5), (9, 10)]


def test_what_was_replaced_is_not_searched_again():
    assert parse.replace("<{}>", "<{}><x>", "<a><b>") == "<a><x><b><x>"


def test_count():
    string = "<1><2><3>"
    found = [parse.replace("<{:d}>", "{}", string, count) for count in (1, 2, 3, 9)]
    assert found == ["1<2><3>", "12<3>", "123", "123"]
    assert parse.replace("<{:d}>", "{}", string, count=0) == "123"


def test_no_occurrence():
    assert parse.replace("<{:d}>", "{}", "nothing <here>") == "nothing <here>"
    assert parse.replace("<{:d}>", "{}", "") == ""


def test_format_is_not_a_regular_expression():
    assert parse.replace("a.c+{:d}?", "{}", "a.c+1? abc+2? a.c3") == "1 abc+2? a.c3"


def test_case():
    assert parse.replace("age {:d};", "{}", "AGE 1; age 2;") == "1 2"
    assert parse.replace("age {:d};", "{}", "AGE 1; age 2;", case_sensitive=True) == "AGE 1; 2"


def test_extra_types():
    @parse.with_pattern(r"[a-c]+")
    def shout(text):
        return text.upper()

    assert parse.replace("<{:Shout}>", "{}", "<abc> <xyz> <b>", extra_types={"Shout": shout}) == "ABC <xyz> B"


def test_repeated_name_must_match_itself():
    assert parse.replace("<{a}|{a}>", "{a}", "<x|x><x|y|x>") == "x<x|y|x>"


def test_parser_method():
    parser = parse.compile("<{n:d}>")
    assert parser.replace("{n}", "<1><2>") == "12"
    assert parser.replace(lambda result: "-", "<1><2>", count=1) == "-<2>"
    assert parser.replace("{n:03d}", "x<7>") == "x007"


def test_is_exported():
    assert {"parse", "search", "findall", "replace", "with_pattern"} <= set(parse.__all__)


def test_findall_as_before():
    assert [result.fixed for result in parse.findall("<{:d}>", "<1> <2>")] == [(1,), (2,)]
    assert [result.spans for result in parse.findall("<{}>", "a<b>c<de>")] == [{0: (2, 3)}, {0: (6, 8)}]


def test_search_as_before():
    assert parse.search("age {:d}", "my age 42 is").fixed == (42,)
    assert parse.search("age {:d}", "nothing") is None


def test_parse_as_before():
    assert parse.parse("{a}-{b}", "x-y").named == {"a": "x", "b": "y"}
    assert parse.compile("<{n:d}>").parse("<12>")["n"] == 12


def test_bad_format_is_still_refused():
    with pytest.raises(ValueError) as caught:
        parse.compile("{:nonsense}")
    assert "nonsense" in str(caught.value)
