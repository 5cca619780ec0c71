"""Only files that need nothing of a pytest session are simple."""

from __future__ import annotations

import pytest

from repoassay.grading.hidden_tests.test_form import is_simple

HEAD = "import unittest\nimport pytest\nfrom unittest import TestCase\n"


@pytest.mark.parametrize(
    "source",
    [
        "",
        "def test_it():\n    assert 1\n",
        "def helper(a, b=1):\n    return a\ndef test_it():\n    assert helper(1)\n",
        '@pytest.mark.parametrize("a, b", [(1, 2)])\n@pytest.mark.parametrize("c", ROWS)\ndef test_it(c, a, b): ...\n',
        "class Case(unittest.TestCase):\n    def setUp(self): pass\n    def test(self): pass\n",
        "class Case(TestCase):\n    def test(self): pass\nif __name__ == '__main__':\n    unittest.main()\n",
        "class Helper:\n    pass\n",
        "def test_it(tmp_path, capsys, monkeypatch):\n    pass\n",
        "@pytest.fixture\ndef own(tmp_path, other): ...\n@pytest.fixture\ndef other(): ...\ndef test_it(own): ...\n",
        '@pytest.mark.parametrize("a", [1])\ndef test_it(a, capsys):\n    pass\n',
    ],
)
def test_simple(source: str) -> None:
    assert is_simple(HEAD + source)


@pytest.mark.parametrize(
    "source",
    [
        "def test_it(tmp_path_factory):\n    pass\n",
        "def test_it(capsysbinary):\n    pass\n",
        "def test_it(capsys):\n    with capsys.disabled(): pass\n",
        "@pytest.fixture\ndef own(unknown): pass\ndef test_it(own): ...\n",
        "@pytest.fixture\ndef own(): yield 1\ndef test_it(own): ...\n",
        "@pytest.fixture\ndef own(request): pass\ndef test_it(own): ...\n",
        "@pytest.fixture(scope='module')\ndef own(): pass\ndef test_it(own): ...\n",
        "@pytest.fixture\ndef tmp_path(): pass\ndef test_it(tmp_path): ...\n",
        "@pytest.fixture\ndef own(): ...\n@pytest.fixture\ndef own(): ...\ndef test_it(own): ...\n",
        "from elsewhere import tmp_path\ndef test_it(tmp_path): ...\n",
        '@pytest.fixture\ndef a(): ...\n@pytest.mark.parametrize("a", [1])\ndef test_it(a): ...\n',
        "def test_it(anything):\n    pass\n",
        "def test_it(a=1):\n    pass\n",
        "async def test_it():\n    pass\n",
        "def test_it():\n    yield 1\n",
        "@pytest.fixture(autouse=True)\ndef before():\n    pass\ndef test_it():\n    pass\n",
        "@pytest.mark.slow\ndef test_it():\n    pass\n",
        '@pytest.mark.parametrize("a", [1], ids=["x"])\ndef test_it(a):\n    pass\n',
        '@pytest.mark.parametrize("a", [pytest.param(1, id="x")])\ndef test_it(a):\n    pass\n',
        '@pytest.mark.parametrize(["a"], [1])\ndef test_it(a):\n    pass\n',
        '@mock.patch("os.sep", "x")\ndef test_it():\n    pass\n',
        "class TestPlain:\n    def test(self): pass\n",
        "class Case(Base):\n    def test(self): pass\n",
        "class Case(TestCase, Other):\n    def test(self): pass\n",
        "from django.test import TestCase\nclass Case(TestCase):\n    def test(self): pass\n",
        "class Case(unittest.TestCase):\n    def test(self):\n        with self.subTest(): pass\n",
        "@unittest.skip('')\nclass Case(unittest.TestCase):\n    def test(self): pass\n",
        "def setup_module(module): pass\n",
        "def setUpModule(): pass\n",
        "pytestmark = 1\n",
        "for row in ROWS:\n    def test_it(): pass\n",
        "try:\n    import toml\nexcept ImportError:\n    toml = None\n",
        "def test_it(:\n",
    ],
)
def test_not_simple(source: str) -> None:
    assert not is_simple(HEAD + source)
