"""What a README tells to run, in its forms."""

from __future__ import annotations

from repoassay.curate.readme import find_readme, readme_commands

MARKDOWN = """
# Tally

```sh
pip install tally
tally words.txt \\
    --json
```

```python
import tally
tally.count("a")
```

```json
{"a": 1}
```
"""
RST = """
Tally
=====

.. code-block:: console

    $ tally words.txt
    a 3
    $ git clone somewhere

Use it::

    >>> import tally
    >>> tally.count("a")
    1
"""


def test_markdown() -> None:
    found = readme_commands(MARKDOWN)
    assert [(each.kind, each.line) for each in found] == [("shell", 7), ("python", 11)]
    assert found[0].text.split() == ["tally", "words.txt", "--json"]


def test_restructured_text() -> None:
    assert [(each.kind, each.text.splitlines()[0]) for each in readme_commands(RST)] == [
        ("shell", "tally words.txt"),
        ("doctest", ">>> import tally"),
    ]


def test_the_readme_with_a_suffix_is_taken() -> None:
    assert find_readme({"README": 1, "README.md": 1, "docs/README.md": 1}) == "README.md"
    assert find_readme({"LICENSE": 1}) is None
