from __future__ import annotations

import pytest

from repoassay.diagnosis.purpose import CommandKind, install_targets, kind_of
from repoassay.diagnosis.shell import Simple, parse


def names(text: str) -> list[str]:
    return [simple.name for simple in parse(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cd /x && A=1 python a.py | tee log; ls", ["cd", "python", "tee", "ls"]),
        ("cat > f <<'EOF'\ngit log --all\nEOF\npython f", ["cat", "python"]),
        ("cat <<EOF && echo done\nrm -rf /\nEOF\nls", ["cat", "echo", "ls"]),
        ("cat <<-END\n\tgit fetch\n\tEND\nls", ["cat", "ls"]),
        ("echo 'git log --all; curl x'", ["echo"]),
        ('bash -lc "cd /w && pip install x"', ["cd", "pip"]),
        ("bash <<EOF\ngit fetch\nEOF", ["git"]),
        ('echo "$(git log --all)" `date`', ["git", "date", "echo"]),
        ("sudo -E env A=b timeout -k 5 60 nohup python a.py &", ["python"]),
        ("conda run -n env python a.py", ["python"]),
        ("if [ -f x ]; then cat x; else touch x; fi", ["[", "cat", "touch"]),
        ("for f in *.py; do python $f; done", ["for", "python"]),
        ("ls # git log --all", ["ls"]),
        ("'unfinished quote && ls", ["unfinished quote && ls"]),
        ("cat <<EOF\nnever closed", ["cat"]),
        ("a\\\n b", ["a"]),
        ("", []),
    ],
)
def test_the_commands_of_a_text(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_redirects_here_documents_and_folders() -> None:
    first, second = parse("cd /w && python a.py >out.txt 2>&1 <<'E'\nbody\nE\n")
    assert first.cwd == "" and second.cwd == "/w" and second.text == "body"
    assert second.writes == ("out.txt",)
    assert parse("x &> all.log")[0].writes == ("all.log",)
    assert parse("x 2>/dev/null")[0].writes == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("pip install -r r.txt", CommandKind.INSTALL),
        ("python3.11 -m pip install x", CommandKind.INSTALL),
        ("uv pip install x", CommandKind.INSTALL),
        ("apt-get -y install x", CommandKind.INSTALL),
        ("npm ci", CommandKind.INSTALL),
        ("python setup.py develop", CommandKind.INSTALL),
        ("pip list", CommandKind.READ),
        ("python -m tool run", CommandKind.EXECUTE),
        ("python a.py --help", CommandKind.VERIFY),
        ("python -c 'import a; print(a.__version__)'", CommandKind.VERIFY),
        ("python -c 'import a; a.run()'", CommandKind.EXECUTE),
        ("python -c 'import a; print(a.run(\"x\"))'", CommandKind.EXECUTE),
        ("python -m pytest -q", CommandKind.VERIFY),
        ("pytest", CommandKind.VERIFY),
        ("make test", CommandKind.VERIFY),
        ("make", CommandKind.EXECUTE),
        ("python -m py_compile a.py", CommandKind.VERIFY),
        ("sed -n 1,5p a", CommandKind.READ),
        ("sed -i s/a/b/ a", CommandKind.EDIT),
        ("echo hi > a.txt", CommandKind.EDIT),
        ("echo hi", CommandKind.OTHER),
        ("git log", CommandKind.READ),
        ("git apply p", CommandKind.EDIT),
        ("git clone u", CommandKind.NETWORK),
        ("curl u", CommandKind.NETWORK),
        ("submit", CommandKind.SUBMIT),
        ("scrapy crawl x", CommandKind.EXECUTE),
        ("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", CommandKind.SUBMIT),
        ("cat a", CommandKind.READ),
        ("./run.sh", CommandKind.EXECUTE),
    ],
)
def test_what_a_command_is_for(text: str, kind: CommandKind) -> None:
    assert kind_of(parse(text)[0]) is kind


def test_targets_of_an_installation() -> None:
    assert install_targets(Simple(("pip", "install", "-U", "A_b[x]>=1", "."))) == ("a-b", ".")
