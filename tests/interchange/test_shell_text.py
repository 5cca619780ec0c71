"""Text of a shell is cut where bash itself cuts it."""

from __future__ import annotations

import subprocess

import pytest

from repoassay.interchange.build_hosts import BuildHosts
from repoassay.interchange.shell_steps import ShellSteps, read_shell
from repoassay.interchange.shell_text import alternatives, inner_of, shell_words, split_commands


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a && for f in b; do c; done && d", ["a", "for f in b; do c; done", "d"]),
        ("set -e; if a; then (b; c); else d; fi; e", ["set -e", "if a; then (b; c); else d; fi", "e"]),
        ("case $x in a) b;; c|d) e;; esac && f", ["case $x in a) b;; c|d) e;; esac", "f"]),
        ("f() { a; b; }; f x && g", ["f() { a; b; }", "f x", "g"]),
        ("while read x; do y; done < z; w", ["while read x; do y; done < z", "w"]),
        ("cat > x <<'END'\nit's ; a\nEND\nchmod x", ["cat > x <<'END'\nit's ; a\nEND", "chmod x"]),
        ("cat > x <<END && b\n1; 2\nEND\nc", ["cat > x <<END && b\n1; 2\nEND", "c"]),
        ("printf '%s' 'if [ \"a\" || b; ' && c", ["printf '%s' 'if [ \"a\" || b; '", "c"]),
        ('X=$(a "$(b; c)"; d) && e ${y:-f; g}', ['X=$(a "$(b; c)"; d)', "e ${y:-f; g}"]),
        ("[[ a && b ]] && c 2>&1 && d &>e", ["[[ a && b ]]", "c 2>&1", "d &>e"]),
        ("echo a{1,2} if done # it's; b\nc", ["echo a{1,2} if done", "c"]),
        ("{ a; b; } || (c; d); e", ["{ a; b; } || (c; d)", "e"]),
    ],
)
def test_commands_end_where_they_do_in_a_shell(text: str, commands: list[str]) -> None:
    assert split_commands(text) == commands
    for whole in (text, *commands):  # each part is a whole command to bash, too
        assert subprocess.run(["bash", "-n", "-c", whole], check=False).returncode == 0


@pytest.mark.parametrize("text", ["echo 'x", 'echo "$(x"', "if a; then b", "(a; b", "a)", "echo ${x"])
def test_what_is_not_closed_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="not closed"):
        split_commands(text)


def test_parts_of_a_command() -> None:
    assert alternatives("a '||' \"$(b || c)\" || (d || e)") == ["a '||' \"$(b || c)\"", "(d || e)"]
    assert inner_of("( (a && b) || c ) >/dev/null 2>&1") == " (a && b) || c "
    assert inner_of("{ a; b; }") == "a; b"
    assert inner_of("(a) && (b)") is inner_of("(a) > b") is inner_of("for x in y; do z; done") is None
    assert shell_words("X=$(a \"b c\") 'd e' f\\ g") == ['X=$(a "b c")', "d e", "f g"]


def read(text: str) -> ShellSteps:
    return read_shell(text, BuildHosts({}))


def test_nothing_of_a_line_is_lost_beside_a_compound_command() -> None:
    steps = read("apt-get update && apt-get install -y jq && pip install a && for f in 1 2; do echo $f > /app/$f; done")
    assert (steps.apt, steps.pip, steps.build) == (["jq"], ["a"], ["for f in 1 2; do echo $f > /app/$f; done"])
    steps = read("pip install a && cat > x.py <<'END'\nprint(1)\nEND\nchmod +x x.py")
    assert steps.pip == ["a"]
    assert steps.build == ["{ cat > x.py <<'END'\nprint(1)\nEND\n} && chmod +x x.py"]
    steps = read("useradd -m bob; if [ -d a ]; then rm -r a; fi")
    assert (steps.users, steps.build) == (["bob"], ["if [ -d a ]; then rm -r a; fi"])


def test_a_line_that_is_a_heredoc_is_its_commands() -> None:
    steps = read("<<END\napt-get install -y jq\ncp a b\nEND")
    assert (steps.apt, steps.build) == (["jq"], ["cp a b"])


def test_variables_stay_with_the_commands_after_them() -> None:
    assert read('J=$(readlink -f "$(which java)") && echo "$J" > /app/j').build == [
        'J=$(readlink -f "$(which java)") && echo "$J" > /app/j'
    ]
    assert read("export A=1 && B='2 3' && mkdir /x").build == []


def test_a_change_of_folder_holds_for_what_comes_after_it() -> None:
    steps = read("cd /app && mkdir -p x && pip install -r r.txt")
    assert (steps.folders, steps.pip) == (["/app/x"], ["-r /app/r.txt"])
    assert read("(cd a && mkdir b) && mkdir c").folders == ["a/b", "c"]
    assert read("cd a && (mkdir b; mkdir /c)").folders == ["a/b", "/c"]
    assert read("cd $A && mkdir b").build == ["cd $A && mkdir b"]


def test_brackets_and_what_brings_a_missing_program() -> None:
    steps = read("(apt-get install -y jq; cd x && cp a b) && c/d")
    assert (steps.apt, steps.build) == (["jq"], ["( cd x && cp a b ) && c/d"])
    first, then = "command -v patch >/dev/null 2>&1", "(apt-get update && apt-get install -y patch) 2>/dev/null"
    assert read(f"{first} || ( {then} || apk add patch )").apt == ["patch"]
    assert read("f() { echo $1; }; f a > b").build == ["f() { echo $1; } && f a > b"]
    for line in ("if ! which jq; then apt-get install -y jq; fi", "(pip install a && cp b c) || true"):
        with pytest.raises(ValueError, match="compound"):
            read(line)


def test_node_by_its_version_manager() -> None:
    steps = read(
        "curl -fsSL https://raw.githubusercontent.com/nvm-sh/nvm/v0.40.2/install.sh | bash && . \"$NVM_DIR/nvm.sh\""
        " && nvm install 22 && npm install -g @openai/codex@latest && ln -sf \"$(which node)\" /usr/local/bin/node"
        " && CODEX=\"$(readlink -f \"$(command -v codex)\")\" && ln -sf \"$CODEX\" /usr/local/bin/codex"
    )  # fmt: skip
    assert (steps.apt, steps.agents, steps.build) == (["nodejs"], ["codex"], [])


def test_variables_of_a_line_are_known_to_what_comes_after_them() -> None:
    hosts = BuildHosts({"V": "2"})
    line = (
        'P=\'jq tmux\' && U="https://x.org/a-$V" && apt-get install -y $P && curl -O "$U" && D=$(date) && mkdir -p $D'
    )
    steps = read_shell(line, hosts)
    assert (steps.apt, list(hosts.named), steps.folders) == (["jq"], ["x.org"], [])
    assert steps.build[0].endswith('curl -O "$U" && D=$(date) && mkdir -p $D')


def test_a_command_of_another_account_is_a_command() -> None:
    assert read("su bob -s /bin/sh -c 'make x' && /usr/local/bin/reset").build == [
        "bash -c 'make x' && /usr/local/bin/reset"
    ]
