from collections import OrderedDict, defaultdict

import pytest
import toolz
import toolz.curried


def nested():
    return {"name": "Alice", "order": {"items": ["apple"], "costs": {"net": 1, "tax": 2}}, "tags": {"x": 1}}


def test_removes_at_every_depth():
    from toolz import dissoc_in

    assert dissoc_in({"a": 1, "b": 2}, ["a"]) == {"b": 2}
    assert dissoc_in({"a": {"b": 1, "c": 2}}, ["a", "c"]) == {"a": {"b": 1}}
    expected = {"name": "Alice", "order": {"items": ["apple"], "costs": {"net": 1}}, "tags": {"x": 1}}
    assert dissoc_in(nested(), ["order", "costs", "tax"]) == expected


def test_removes_a_whole_branch():
    from toolz import dissoc_in

    assert dissoc_in(nested(), ["order"]) == {"name": "Alice", "tags": {"x": 1}}
    assert dissoc_in(nested(), ("order", "costs"))["order"] == {"items": ["apple"]}


def test_input_is_not_changed():
    from toolz import dissoc_in

    for keys in (["name"], ["order", "items"], ["order", "costs", "tax"], ["order", "none", "tax"]):
        before = nested()
        dissoc_in(before, keys)
        assert before["order"] == {"items": ["apple"], "costs": {"net": 1, "tax": 2}}
        assert before == nested(), keys


def test_rest_is_shared():
    from toolz import dissoc_in

    before = nested()
    after = dissoc_in(before, ["order", "costs", "net"])
    assert after["tags"] is before["tags"]
    assert after["order"]["items"] is before["order"]["items"]
    assert after["order"] is not before["order"]
    assert after["order"]["costs"] == {"tax": 2}


def test_missing_location_is_ignored():
    from toolz import dissoc_in

    for keys in (["z"], ["z", "y"], ["order", "z"], ["order", "costs", "z"], ["order", "z", "net"]):
        before = nested()
        after = dissoc_in(before, keys)
        assert after == nested(), keys
        assert after is not before
    assert dissoc_in({}, ["a", "b"]) == {}


def test_path_through_something_else_is_ignored():
    from toolz import dissoc_in

    assert dissoc_in({"a": 1}, ["a", "b"]) == {"a": 1}
    assert dissoc_in({"a": None, "b": 2}, ["a", "b"]) == {"a": None, "b": 2}
    assert dissoc_in({"a": "text"}, ["a", 0]) == {"a": "text"}
    assert dissoc_in({"a": {"b": [1, 2]}}, ["a", "b", 0]) == {"a": {"b": [1, 2]}}


def test_emptied_dicts_stay():
    from toolz import dissoc_in

    assert dissoc_in({"a": {"b": {"c": 1}}}, ["a", "b", "c"]) == {"a": {"b": {}}}
    assert dissoc_in({"a": 1}, ["a"]) == {}


def test_falsy_keys_and_values():
    from toolz import dissoc_in

    assert dissoc_in({0: {None: 1, "": 2}, 1: 0}, [0, None]) == {0: {"": 2}, 1: 0}
    assert dissoc_in({"a": {"b": None, "c": 0}}, ["a", "b"]) == {"a": {"c": 0}}
    assert dissoc_in({"a": {}}, ["a", "b"]) == {"a": {}}


def test_factory_makes_the_copies():
    from toolz import dissoc_in

    after = dissoc_in({"a": {"b": 1, "c": {}}, "d": {}}, ["a", "b"], factory=OrderedDict)
    assert after == {"a": {"c": {}}, "d": {}}
    assert [type(after), type(after["a"]), type(after["a"]["c"]), type(after["d"])] == [
        OrderedDict,
        OrderedDict,
        dict,
        dict,
    ]
    assert type(dissoc_in(OrderedDict(a=1, b=2), ["a"])) is dict


def test_default_dict_gains_no_keys():
    from toolz import dissoc_in

    before = defaultdict(dict, {"a": {"b": 1}})
    after = dissoc_in(before, ["x", "y"], factory=lambda: defaultdict(dict))
    assert after == {"a": {"b": 1}}
    assert dict(before) == {"a": {"b": 1}}


def test_keys_may_be_any_iterable():
    from toolz import dissoc_in

    assert dissoc_in({"a": {"b": 1, "c": 2}}, iter(["a", "b"])) == {"a": {"c": 2}}


def test_curried():
    from toolz.curried import dissoc_in

    assert isinstance(dissoc_in, toolz.curry)
    assert list(map(dissoc_in(keys=["a", "b"]), [{"a": {"b": 1}}, {"c": 2}])) == [{"a": {}}, {"c": 2}]
    assert dissoc_in({"a": {"b": 1}})(["a", "b"]) == {"a": {}}


def test_is_public():
    from toolz import dicttoolz

    assert "dissoc_in" in dicttoolz.__all__


def test_assoc_in_as_before():
    assert toolz.assoc_in({"a": {"b": 1}}, ["a", "c"], 2) == {"a": {"b": 1, "c": 2}}
    assert toolz.assoc_in({}, ["a", "b"], 1) == {"a": {"b": 1}}


def test_dissoc_as_before():
    assert toolz.dissoc({"a": 1, "b": 2}, "a", "z") == {"b": 2}
    assert toolz.dissoc({"a": {"b": 1}}, "b") == {"a": {"b": 1}}


def test_update_in_and_get_in_as_before():
    assert toolz.update_in({"a": 0}, ["a"], lambda x: x + 1) == {"a": 1}
    assert toolz.get_in(["a", "b"], {"a": {"b": 3}}) == 3
    with pytest.raises(KeyError):
        toolz.get_in(["y"], {}, no_default=True)


def test_curried_neighbours_as_before():
    assert toolz.curried.assoc_in({"a": 1}, ["b"])(2) == {"a": 1, "b": 2}
    assert toolz.curried.get_in(["a", "b"])({"a": {"b": 3}}) == 3
