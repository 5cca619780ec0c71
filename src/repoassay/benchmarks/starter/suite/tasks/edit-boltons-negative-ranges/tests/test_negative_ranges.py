import pytest

from boltons.strutils import complement_int_list, format_int_list, int_ranges_from_int_list, parse_int_list


def test_single_negative_integers():
    assert parse_int_list("-1") == [-1]
    assert parse_int_list("-3,4,-12") == [-12, -3, 4]


def test_ranges_between_negative_integers():
    assert parse_int_list("-5--3,-1,2") == [-5, -4, -3, -1, 2]
    assert parse_int_list("-12--10") == [-12, -11, -10]


def test_ranges_across_zero():
    assert parse_int_list("-2-1") == [-2, -1, 0, 1]
    assert parse_int_list("7,-1-0") == [-1, 0, 7]


def test_reversed_ranges():
    assert parse_int_list("-3--5") == [-5, -4, -3]
    assert parse_int_list("1--2") == [-2, -1, 0, 1]


def test_spaces_around_negative_integers():
    assert parse_int_list(" -5--4, -2 ,  1-2 ") == [-5, -4, -2, 1, 2]


def test_other_delimiters():
    assert parse_int_list("-5:-3;-1", delim=";", range_delim=":") == [-5, -4, -3, -1]
    assert parse_int_list("-2..1 -9", delim=" ", range_delim="..") == [-9, -2, -1, 0, 1]


def test_what_is_formatted_parses_back():
    assert parse_int_list(format_int_list([-1])) == [-1]
    assert parse_int_list(format_int_list([-3, -2, -1, 0, 1])) == [-3, -2, -1, 0, 1]
    assert parse_int_list(format_int_list([-20, -10, -9, -8, 5], delim_space=True)) == [-20, -10, -9, -8, 5]
    assert parse_int_list(format_int_list([-7, -5, -3, 3, 4])) == [-7, -5, -3, 3, 4]
    assert parse_int_list(format_int_list(range(-12, 13, 5), delim_space=True)) == [-12, -7, -2, 3, 8]


def test_int_ranges_of_negative_integers():
    assert int_ranges_from_int_list("-5--3,-1") == ((-5, -3), (-1, -1))
    assert int_ranges_from_int_list("-2-1,3,8-9") == ((-2, 1), (3, 3), (8, 9))
    assert int_ranges_from_int_list("-7") == ((-7, -7),)


def test_int_ranges_with_other_delimiters():
    assert int_ranges_from_int_list("-5:-3;-1;4", delim=";", range_delim=":") == ((-5, -3), (-1, -1), (4, 4))


def test_int_ranges_are_still_merged():
    assert int_ranges_from_int_list("-1,-3,-2,5-6,7,6") == ((-3, -1), (5, 7))


def test_positive_integers_parse_as_before():
    assert parse_int_list("1,3,5-8,10-11,15") == [1, 3, 5, 6, 7, 8, 10, 11, 15]
    assert parse_int_list(" 8-5 , 2,,") == [2, 5, 6, 7, 8]
    assert parse_int_list("") == []


def test_positive_other_delimiters_parse_as_before():
    assert parse_int_list("1;3:5", delim=";", range_delim=":") == [1, 3, 4, 5]


def test_malformed_ranges_are_refused():
    for text in ("1-", "-", "--", "a-3", "3-b", "1-x", "--1-"):
        with pytest.raises(ValueError) as caught:
            parse_int_list(text)
        assert caught.type is ValueError


def test_positive_int_ranges_as_before():
    assert int_ranges_from_int_list("1,3,5-8,10-11,15") == ((1, 1), (3, 3), (5, 8), (10, 11), (15, 15))
    assert int_ranges_from_int_list("1;3:5", delim=";", range_delim=":") == ((1, 1), (3, 5))
    assert int_ranges_from_int_list("") == ()


def test_format_as_before():
    assert format_int_list([15, 1, 3, 5, 6, 7, 8, 10, 11]) == "1,3,5-8,10-11,15"
    assert format_int_list([-5, -4, -3, -1, 2]) == "-5--3,-1,2"


def test_complement_as_before():
    assert complement_int_list("1,3,5-8,10-11,15") == "0,2,4,9,12-14"
    assert complement_int_list("1,3,5-8,10-11,15", range_start=-1) == "0,2,4,9,12-14"
    assert complement_int_list("1,3,5-8", range_start=-10, range_end=-5) == ""
    assert complement_int_list("1,3,5-8", range_start=2, range_end=3) == "2"
