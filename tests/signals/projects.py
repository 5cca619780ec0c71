"""A small project as people keep them, a good change to it, and changes with one known fault each."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from repoassay.sandbox.cache import settle

FILES = {
    "pyproject.toml": """
        [project]
        name = "parcels"
        version = "1.2"

        [tool.ruff]
        line-length = 100

        [tool.ruff.lint]
        select = ["E", "F", "B"]

        [tool.ruff.format]
        quote-style = "double"

        [tool.mypy]
        files = ["parcels"]
        disallow_untyped_defs = true

        [tool.pytest]
        addopts = ["-q"]
        """,
    "README.md": "# Parcels\n\nPrices of parcels: `price` and `total`.\n",
    "CHANGELOG.md": "# Changes\n\n## 1.2\n\n- `total` takes any iterable.\n",
    "docs/guide.md": "# Guide\n\n`price(weight, zone)` gives the price of a parcel in cents.\n",
    "parcels/__init__.py": '''
        """Prices of parcels."""

        from parcels.pricing import price, total

        __all__ = ["price", "total"]
        ''',
    "parcels/pricing.py": '''
        """What a parcel costs."""

        from collections.abc import Iterable

        ZONES = {"near": 100, "far": 250}


        def price(weight: int, zone: str) -> int:
            """Return the price of one parcel in cents.

            Args:
                weight: In grams.
                zone: A key of `ZONES`.
            """
            if weight <= 0:
                raise ValueError("a parcel weighs something")
            return ZONES[zone] + weight // 10


        def total(weights: Iterable[int], zone: str) -> int:
            """Return the price of several parcels in cents.

            Args:
                weights: In grams.
                zone: A key of `ZONES`.
            """
            return sum(price(weight, zone) for weight in weights)
        ''',
    "parcels/labels.py": '''
        """What is printed on a parcel."""

        from parcels.pricing import price


        def label(name: str, weight: int, zone: str) -> str:
            """Return the text of a label.

            Args:
                name: Of the receiver.
                weight: In grams.
                zone: A key of `ZONES`.
            """
            return f"{name} ({weight} g, {price(weight, zone)} ct)"


        def parse(text: str) -> dict[str, str]:
            """Return the fields of an address, one `key: value` a line."""
            fields: dict[str, str] = {}
            for number, line in enumerate(text.splitlines(), 1):
                key, colon, value = line.partition(":")
                if not colon:
                    raise ValueError(f"line {number} has no colon")
                if key.strip() in fields:
                    raise ValueError(f"line {number} repeats {key.strip()}")
                fields[key.strip()] = value.strip()
            return fields
        ''',
    "tests/test_pricing.py": """
        import pytest

        from parcels import price, total


        def test_price():
            assert price(500, "near") == 150


        def test_weightless():
            with pytest.raises(ValueError):
                price(0, "near")


        def test_total():
            assert total([500, 1000], "far") == 650
        """,
    "tests/test_labels.py": """
        from parcels.labels import label, parse


        def test_label():
            assert label("Ada", 500, "near") == "Ada (500 g, 150 ct)"


        def test_parse():
            assert parse("name: Ada\\ncity: London") == {"name": "Ada", "city": "London"}
        """,
}
"""The base, by path; indentation is taken off."""

_OLD = """    if weight <= 0:
        raise ValueError("a parcel weighs something")
    return ZONES[zone] + weight // 10
"""
_EXPRESS = '''

def express(weight: int, zone: str, hours: int = 24) -> int:
    """Return the price of a parcel that must arrive soon, in cents.

    Args:
        weight: In grams.
        zone: A key of `ZONES`.
        hours: Until when; under 12 it costs double.
    """
    factor = 2 if hours < 12 else 1
    return factor * price(weight, zone) + 500
'''
_TESTS = """

def test_express():
    assert express(500, "near") == 650


def test_express_within_hours():
    assert express(500, "near", hours=6) == 800
"""


def base_files() -> dict[str, str]:
    """The base's files, as they lie on disk."""
    return {path: dedent(text).lstrip("\n") for path, text in FILES.items()}


def reference() -> dict[str, str]:
    """The head of the good change: a function, exported, tested, in the guide and in the changelog."""
    head = base_files()
    head["parcels/pricing.py"] += _EXPRESS
    head["parcels/__init__.py"] = head["parcels/__init__.py"].replace("import price", "import express, price")
    head["parcels/__init__.py"] = head["parcels/__init__.py"].replace('["price"', '["express", "price"')
    head["tests/test_pricing.py"] = (
        head["tests/test_pricing.py"].replace("import price", "import express, price") + _TESTS
    )
    head["docs/guide.md"] += "\n`express(weight, zone, hours=24)` is for parcels in a hurry.\n"
    head["CHANGELOG.md"] += "- `express` is new.\n"
    return head


def without_tests() -> dict[str, str]:
    """Nothing tests the new function."""
    return reference() | {"tests/test_pricing.py": base_files()["tests/test_pricing.py"]}


def vacuous() -> dict[str, str]:
    """Tests that import the new name, in a module that cannot be imported on the base, and hold anyway."""
    head = reference()
    head["tests/test_pricing.py"] += "\n\ndef test_express_is_documented():\n    assert True\n"
    return head


def vacuous_in_disguise() -> dict[str, str]:
    """A test that asserts something, of code that was there before."""
    head = without_tests()
    head["tests/test_express.py"] = dedent(
        """
        from parcels import express, price


        def test_express_like_price():
            assert express is not None
            assert price(100, "near") == 110
        """
    ).lstrip()
    return head


def required_parameter() -> dict[str, str]:
    """A parameter made required breaks a caller in a file that the change leaves alone."""
    head = reference()
    head["parcels/pricing.py"] = head["parcels/pricing.py"].replace(
        "def price(weight: int, zone: str) -> int:", "def price(weight: int, zone: str, fragile: bool) -> int:"
    )
    head["parcels/pricing.py"] = head["parcels/pricing.py"].replace(
        "price(weight, zone) ", "price(weight, zone, False) "
    )
    return head


def undocumented() -> dict[str, str]:
    """No docstring, no word in the guide, none in the changelog."""
    head = reference()
    start, end = head["parcels/pricing.py"].rindex('    """Return'), head["parcels/pricing.py"].rindex("    factor")
    head["parcels/pricing.py"] = head["parcels/pricing.py"][:start] + head["parcels/pricing.py"][end:]
    return head | {path: base_files()[path] for path in ("docs/guide.md", "CHANGELOG.md")}


def copied() -> dict[str, str]:
    """A function pasted from another module."""
    head = reference()
    source = head["parcels/labels.py"]
    pasted = source[source.index("def parse") :].replace("def parse", "def read_options")
    head["parcels/pricing.py"] += "\n\n" + pasted
    head["tests/test_pricing.py"] += (
        "\n\ndef test_options():\n    from parcels.pricing import read_options\n\n"
        '    assert read_options("a: b\\nc: d") == {"a": "b", "c": "d"}\n'
    )
    return head


def copied_and_renamed() -> dict[str, str]:
    """The same with other names."""
    head = copied()
    text = head["parcels/pricing.py"]
    start = text.index("def read_options")
    pasted = text[start:]
    for old, new in (("fields", "options"), ("key", "name"), ("value", "setting"), ("colon", "mark"), ("line", "row")):
        pasted = pasted.replace(old, new)
    pasted = pasted.replace("splitrows", "splitlines")
    return head | {"parcels/pricing.py": text[:start] + pasted}


def unformatted() -> dict[str, str]:
    """One line that the formatter would write otherwise."""
    return _with(reference(), "parcels/pricing.py", "factor = 2 if hours < 12 else 1", "factor = 2 if hours<12 else  1")


def linted() -> dict[str, str]:
    """A name bound and never used."""
    return _with(reference(), "parcels/pricing.py", "    factor = 2", "    unused = hours\n    factor = 2")


def loosened() -> dict[str, str]:
    """The same, with the rule that finds it taken out of the configuration."""
    return _with(linted(), "pyproject.toml", '["E", "F", "B"]', '["E", "B"]')


def suppressed() -> dict[str, str]:
    """The same, with a comment that silences it, and a type that is wrong and ignored."""
    head = _with(linted(), "parcels/pricing.py", "unused = hours", "unused: str = hours  # type: ignore  # noqa: F841")
    return _with(
        head, "parcels/pricing.py", '"""What a parcel costs."""', '"""What a parcel costs. # noqa is no comment."""'
    )


def littered() -> dict[str, str]:
    """A scratch script, a summary and a log."""
    return reference() | {
        "reproduce_issue.py": "from parcels import express\n\nprint(express(1, 'near'))\n",
        "IMPLEMENTATION_SUMMARY.md": "# Summary\n\nEverything was done.\n",
        "parcels/run.log": "started\n",
    }


def debugged() -> dict[str, str]:
    """A print and a breakpoint."""
    return _with(
        reference(), "parcels/pricing.py", "    factor = 2",
        '    print("hours", hours)\n    if hours > 10**6:\n        breakpoint()\n    factor = 2',
    )  # fmt: skip


def oversized() -> dict[str, str]:
    """Far more than was asked for, and elsewhere."""
    head = reference()
    for module in ("alpha", "beta", "gamma", "delta"):
        names = "\n\n\n".join(
            f'def {module}_{each}(value: int) -> int:\n    """Return {each} more."""\n    return value + {each}'
            for each in range(12)
        )
        head[f"tools_{module}/{module}.py"] = f'"""More."""\n\n\n{names}\n'
    return head


def complicated() -> dict[str, str]:
    """A function of many branches."""
    branches = "".join(
        f"    if hours == {each} and weight > {each}:\n        factor += {each}\n" for each in range(1, 9)
    )
    return _with(reference(), "parcels/pricing.py", "    return factor * price", f"{branches}    return factor * price")


def unused() -> dict[str, str]:
    """A helper that nobody calls, and a statement after a return."""
    head = reference()
    head["parcels/pricing.py"] += (
        "\n\ndef _rounded(cents: int) -> int:\n    return cents // 100 * 100\n    print(cents)\n"
    )
    return head


def broken() -> dict[str, str]:
    """A test that was there and passed fails, and another asserts less."""
    head = _with(reference(), "parcels/pricing.py", "weight // 10\n", "weight // 5\n")
    return _with(head, "tests/test_pricing.py", '    assert total([500, 1000], "far") == 650', "    pass")


def skipped() -> dict[str, str]:
    """A new test that is not run."""
    return _with(reference(), "tests/test_pricing.py", "def test_express():", "@pytest.mark.skip\ndef test_express():")


def _with(head: dict[str, str], path: str, old: str, new: str) -> dict[str, str]:
    assert old in head[path], f"{old!r} is not in {path}"
    return head | {path: head[path].replace(old, new, 1)}


def write(files: Mapping[str, str], into: Path) -> Path:
    """Write files, and make them readable for the sandbox's account."""
    into.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        place = into / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    settle(into)
    return into


def diff(base: Mapping[str, str], head: Mapping[str, str]) -> bytes:
    """The diff between two sets of files, as git writes it."""
    parts = []
    for path in sorted({*base, *head}):
        if base.get(path) == head.get(path):
            continue
        old, new = base.get(path), head.get(path)
        parts.append(f"diff --git a/{path} b/{path}\n")
        parts.append("new file mode 100644\n" if old is None else "deleted file mode 100644\n" if new is None else "")
        lines = difflib.unified_diff(
            (old or "").splitlines(keepends=True), (new or "").splitlines(keepends=True),
            "/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}",
        )  # fmt: skip
        parts += list(lines)
    return "".join(parts).encode()
