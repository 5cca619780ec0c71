"""Submodules: which a commit has, tests that need them, and their files where somebody says where these lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from construct.making import CODE, Repo, make_repo
from repoassay.construct import MiningRequest, mine_histories, open_history
from repoassay.construct.history import History
from repoassay.construct.submodules import SubmoduleMissing, fill_submodules, needed_submodule, submodules_of
from repoassay.errors import BadInput
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.tasks.suite import find_suite
from repoassay.workspace import release_lines  # noqa: F401  # asked by the mark, as a test starts

URL = "https://example.org/cases.git"
MODULES = f'[submodule "cases"]\n\tpath = tests/shop-cases\n\turl = {URL}\n[include]\n\tpath = /etc/passwd\n'
TEST = """\
from pathlib import Path
import shop

CASES = Path(__file__).with_name("shop-cases")

def test_total():
    for case in (CASES / "totals.txt").read_text().splitlines():
        *prices, total = map(int, case.split())
        assert shop.total(prices) == total
"""
SAYS = "Fix the total of no prices\n\nThe total of an empty list raised a TypeError, and should be zero."


@pytest.fixture
def cases(tmp_path: Path) -> Repo:
    repo = make_repo(tmp_path / "cases")
    repo.commit({"totals.txt": "1 2 3\n0\n"})
    return repo


@pytest.fixture
def shop(tmp_path: Path, cases: Repo) -> Repo:
    """A repository whose tests read files of a submodule."""
    repo = make_repo(tmp_path / "shop")
    wrong = "from functools import reduce\n\n\ndef total(prices):\n    return reduce(int.__add__, prices)\n"
    repo.commit({"shop.py": wrong, "tests/test_shop.py": "", ".gitmodules": MODULES, "LICENSE": ""}, "Start")
    tip = cases.git("rev-parse", "HEAD")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{tip},tests/shop-cases")
    repo.git("commit", "--quiet", "--amend", "--no-edit")
    repo.path.joinpath("shop.py").write_text(CODE)
    repo.path.joinpath("tests/test_shop.py").write_text(TEST)
    repo.git("add", "shop.py", "tests/test_shop.py")
    repo.git("commit", "--quiet", "--message", SAYS)
    return repo


def test_submodules_are_read_and_filled_from_what_is_given_alone(shop: Repo, cases: Repo, tmp_path: Path) -> None:
    history = History(shop.path / ".git", "shop")
    (found,) = submodules_of(history, shop.git("rev-parse", "HEAD"))
    assert (found.path, found.url, found.commit) == ("tests/shop-cases", URL, cases.git("rev-parse", "HEAD"))
    assert needed_submodule([found], [TEST]) is found
    assert needed_submodule([found], ["my-shop-cases", "shop-cases-old"]) is None
    tree = tmp_path / "tree"
    fill_submodules([found], {"https://example.org/other": str(cases.path)}, tree)
    assert not tree.exists()
    fill_submodules([found], {URL.removesuffix(".git"): str(cases.path)}, tree)
    assert [each.name for each in (tree / "tests/shop-cases").iterdir()] == ["totals.txt"]
    other = make_repo(tmp_path / "other")
    other.commit({"a": ""})
    with pytest.raises(SubmoduleMissing, match="has no commit"):
        fill_submodules([found], {URL: str(other.path)}, tmp_path / "again")


def test_a_partial_clone_is_refused_with_the_remedy(shop: Repo, tmp_path: Path) -> None:
    shop.git("config", "uploadpack.allowFilter", "true")
    origin = f"file://{shop.path}"
    shop.git("clone", "--quiet", "--filter=blob:none", "--no-checkout", origin, str(tmp_path / "part"))
    Repo(tmp_path / "part").git("remote", "set-url", "origin", str(tmp_path / "gone"))
    with (
        pytest.raises(BadInput, match="partial clone: it lacks files of its own history"),
        open_history(str(tmp_path / "part"), (), tags=True),
    ):
        pass


@pytest.mark.skipif("not release_lines()", reason="this machine has no Python of uv or pyenv to make an environment of")
@pytest.mark.exhaustive
def test_a_commit_whose_tests_need_a_submodule_says_so(
    shop: Repo, cases: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    for mirrors, cause in (({}, "needs a submodule"), ({URL: str(cases.path)}, "")):
        suite = tmp_path / (cause or "sound")
        asked = MiningRequest(proofs=1, mirrors=mirrors)
        (row,) = mine_histories([str(shop.path)], suite, cache, sandbox, asked).tried
        assert row.cause == cause, row.reason
        assert cause == "" or f"--mirror {URL}=PATH" in row.reason
    (folder,) = find_suite(tmp_path / "sound").tasks
    base = folder.task.repository.source.removeprefix("bundled:")
    assert (tmp_path / "sound/repositories" / base / "tests/shop-cases/totals.txt").is_file()
