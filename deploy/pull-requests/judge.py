"""Judge the patch of a pull request on a suite, and write the comparison with a baseline as a comment.

For CI systems, which say what is asked in environment variables:

    JUDGE_BASE, JUDGE_HEAD   commits: what the request is to be merged into, and what it asks to merge
    JUDGE_SUITE              the suite's folder in the base commit, or a bundled suite's name
    JUDGE_TASK               the task that the request attempts; else JUDGE_TEXT says it in a line `Task: ID`
    JUDGE_TEXT               title, labels and body of the request, whatever they are
    JUDGE_PREDICTIONS        instead of one task: a JSONL file of {instance_id, model_patch} in the head commit
    JUDGE_BASELINE           a run folder, or a file of predictions, in the base commit; empty for none
    JUDGE_AGENT              what the request's author is called
    JUDGE_OUT                folder for `comment.md` and the runs

Nothing of the head commit is checked out or run: git reads it, and its patch is judged in RepoAssay's sandbox. Suite
and baseline come from the base commit, so that a request cannot change what it is judged by.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

MOST_PATCH = 4 * 2**20
MOST_FILE = 256 * 2**20
MOST_COMMENT = 60_000
MARK = "<!-- repoassay: verdict on a pull request -->"
TASK = re.compile(r"^\s*Task:\s*`?([A-Za-z0-9][A-Za-z0-9_.-]{0,200})`?\s*$", re.MULTILINE)
NO_ID = re.compile(r"[^A-Za-z0-9_./:-]")
"""What an id of a prediction may hold besides, and a cell of a table must not: it would forge other cells."""
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def setting(name: str) -> str:
    """What the CI system says."""
    return os.environ.get(f"JUDGE_{name}", "").strip()


def git(*words: str) -> bytes:
    """What git prints, with no program of the repository's choice run by it."""
    line = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", *words]
    return subprocess.run(line, check=True, stdout=subprocess.PIPE).stdout


def commit(name: str) -> str:
    """The full id of a commit, which is never taken for an option or a path; it is fetched where it is not here."""
    value = setting(name)
    if not COMMIT.fullmatch(value):
        sys.exit(f"JUDGE_{name} is {value!r}. Give the full id of a commit.")
    if subprocess.run(["git", "cat-file", "-e", value], check=False, stderr=subprocess.DEVNULL).returncode:
        git("fetch", "--quiet", "--no-tags", "origin", value)
    return value


def repoassay(*words: str, may_fail: bool = False) -> str:
    """What RepoAssay prints; what went wrong stands in the log of the job."""
    done = subprocess.run(["repoassay", *words], check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode and not may_fail:
        sys.exit(f"repoassay {words[0]} ended with {done.returncode}: {done.stdout}")
    return done.stdout


def predictions(base: str, head: str, target: Path) -> None:
    """Write what is to be judged: the request's own patch for one task, or the predictions that lie in it."""
    if path := setting("PREDICTIONS"):
        size = int(git("cat-file", "-s", f"{head}:{path}"))
        if size > MOST_FILE:
            sys.exit(f"{path} has {size:,} bytes; at most {MOST_FILE:,} are read.")
        target.write_bytes(git("cat-file", "blob", f"{head}:{path}"))
        return
    stated = TASK.search(setting("TEXT"))
    task = setting("TASK") or (stated[1] if stated else "")
    if not task:
        sys.exit("Nobody says which task this is. Write a line `Task: ID` into the request, or set JUDGE_TASK.")
    flags = ("--no-ext-diff", "--no-textconv", "--no-color", "--binary", "--src-prefix=a/", "--dst-prefix=b/")
    patch = git("diff", *flags, f"{base}...{head}", "--")
    if len(patch) > MOST_PATCH:
        sys.exit(f"The request changes {len(patch):,} bytes; at most {MOST_PATCH:,} are judged.")
    agent = re.sub(r"[^A-Za-z0-9_.-]+", "-", setting("AGENT"))[:80] or "pull-request"
    row = {"instance_id": task, "model_name_or_path": agent, "model_patch": patch.decode("utf-8", "replace")}
    target.write_text(json.dumps(row) + "\n")


def judged(source: Path, suite: str, run: Path) -> None:
    """Judge predictions on the suite, as a run folder."""
    repoassay("import", str(source), "--as", "swe-bench", "--suite", suite, "--judge", "--out", str(run))


def comment(run: Path, baseline: Path | None, against: str) -> str:
    """The verdicts as a table, and the comparison where there is something to compare with."""
    report = json.loads(repoassay("report", str(run), "--no-html", "--json"))["data"]
    rows = [(each["attempt"]["task"], each["verdict"]["outcome"].replace("_", " ")) for each in report["attempts"]]
    passed = sum(outcome == "passed" for _, outcome in rows)
    lines = [MARK, f"### RepoAssay: {passed} of {len(rows)} tasks passed", "", "| task | verdict |", "|---|---|"]
    lines += [f"| `{NO_ID.sub('?', task)[:200]}` | {outcome} |" for task, outcome in rows[:200]]
    if baseline is not None:
        compared = repoassay("compare", str(baseline), str(run), "--format", "md", may_fail=True)
        lines += ["", compared or f"There is nothing to compare with in {against}; the job's log says why."]
    if output := os.environ.get("GITHUB_OUTPUT"):
        with Path(output).open("a") as stream:
            stream.write(f"passed={passed}\njudged={len(rows)}\n")
    return "\n".join(lines)[:MOST_COMMENT] + "\n"


def main() -> None:
    """Judge, compare and write `comment.md`, which is shown in the job's summary too where there is one."""
    base, head, target = commit("BASE"), commit("HEAD"), Path(setting("OUT") or "judged").absolute()
    target.mkdir(parents=True)
    trusted = target / "base"
    git("worktree", "add", "--quiet", "--detach", str(trusted), base)
    try:
        named = setting("SUITE")
        suite = str(trusted / named) if (trusted / named).is_dir() else named
        predictions(base, head, target / "predictions.jsonl")
        judged(target / "predictions.jsonl", suite, target / "head-run")
        against = setting("BASELINE")
        baseline = trusted / against if against else None
        if baseline is not None and baseline.is_file():
            judged(baseline, suite, target / "baseline-run")
            baseline = target / "baseline-run"
        text = comment(target / "head-run", baseline, against)
    finally:
        git("worktree", "remove", "--force", str(trusted))
    (target / "comment.md").write_text(text)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a") as stream:
            stream.write(text)
    print(text)


if __name__ == "__main__":
    main()
