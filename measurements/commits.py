"""How many real fixing commits become tasks when nobody types anything: draws them by stated rules and tries each.

A candidate is a commit that keeps to the rules of `repoassay mine`, which draws it, too. Of every repository as many
are drawn as of the others, with a seed, spread over its history since --since in strata of equal size. Each becomes one
line of the results file, and what is there already is not tried again. The first become pull-request tasks
(--pull-requests), with their messages for issues.

    python measurements/commits.py --repository bundles/one.bundle --repository clones/two.git --count 60
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

from repoassay.construct import History, MiningRules, closer_look, draw, read_commits


def git(place: Path, *words: str) -> str:
    """Output of git in a repository."""
    done = subprocess.run(["git", "-C", str(place), *words], capture_output=True, check=True)
    return done.stdout.decode(errors="replace")


def opened(given: Path, folder: Path) -> Path:
    """A git folder of what was given: a bundle is cloned once."""
    if given.is_dir():
        return given
    place = folder / f"{given.stem}.git"
    if not place.exists():
        subprocess.run(["git", "clone", "--quiet", "--mirror", str(given), str(place)], check=True)
    return place


def drawn(repositories: list[Path], count: int, seed: int, since: str) -> list[tuple[Path, str]]:
    """Commits to try, the repositories in turn, so that the first n are as good a sample as any."""
    by_place: dict[Path, list[str]] = {}
    rules = MiningRules()
    for place in repositories:
        history, each = History(place, place.name), -(-count // len(repositories))
        pool = [facts for facts in read_commits(history, since) if rules.judge(facts) is None]
        found = draw(pool, each, f"{seed} {place.name}", partial(closer_look, history, rules=rules))
        by_place[place] = [facts.commit for facts in found.commits]
        print(f"{place.name}: {len(pool)} candidates, {len(by_place[place])} drawn", file=sys.stderr)
    turns = max(map(len, by_place.values()), default=0)
    return [(place, shas[turn]) for turn in range(turns) for place, shas in by_place.items() if turn < len(shas)][
        :count
    ]


def words_of(place: Path, sha: str, out: str, *, proposal: bool) -> list[str]:
    """The command that makes a task of one commit; an issue is all that a pull-request task is asked for."""
    words = [str(Path(sys.executable).with_name("repoassay")), "construct"]
    if not proposal:
        return [*words, "commit", "--repo", str(place), "--solution", sha, "--out", out, "--json"]
    issue = Path(out, "issue.md")
    issue.write_text(git(place, "log", "-1", "--format=%B", sha))
    suite = str(Path(out, "suite"))
    return [
        *words,
        "pull-request",
        "--repo",
        str(place),
        "--merged",
        sha,
        "--issue",
        str(issue),
        "--out",
        suite,
        "--json",
    ]


def tried(place: Path, sha: str, seconds: float, *, proposal: bool = False) -> dict[str, Any]:
    """What `construct` makes of one commit, nothing typed."""
    with tempfile.TemporaryDirectory(prefix="commits-") as out:
        words = words_of(place, sha, out, proposal=proposal)
        began = time.monotonic()
        try:
            done = subprocess.run(words, capture_output=True, timeout=seconds, check=False)
            said = done.stderr.decode(errors="replace").strip()
            refused = {"finding": "refused at once", "reasons": [said[-600:]]}
            made: dict[str, Any] = (json.loads(done.stdout)["data"] if done.stdout.strip() else None) or refused
        except subprocess.TimeoutExpired:
            made = {"finding": "out of time", "reasons": [f"It took longer than {seconds:g} s."]}
        taken = time.monotonic() - began
    tests = made.pop("tests", [])
    made["roles"] = Counter(test["role"] for test in tests)
    made["failing"] = [test["message"][-300:] for test in tests if test["role"] in ("fails", "flaky", "breaks")][:3]
    kind = "pull request" if proposal else "edit"
    return {**made, "repository": place.name, "sha": sha, "kind": kind, "seconds": round(taken, 1)}


def table(results: list[dict[str, Any]]) -> str:
    """A line a commit, then the shares."""
    lines = ["| commit | kind | finding | must pass | guards | lost | s | why |", "|---|---|---|---|---|---|---|---|"]
    for each in results:
        lost, roles = each.get("lost") or {"tests": 0, "of": 0}, each["roles"]
        share = f"{lost['tests']}/{lost['of']}" if lost["of"] else ""
        reasons = " ".join(" ".join(each.get("reasons") or []).split()).replace("|", "/")[-160:]
        lines.append(
            f"| {each['repository'].removesuffix('.git')} {each['sha'][:8]} | {each['kind']} | {each['finding']}"
            f" | {roles.get('fail_to_pass', 0)} | {roles.get('pass_to_pass', 0)} | {share} | {each['seconds']:.0f}"
            f" | {'' if each['finding'] == 'sound' else reasons} |"
        )
    found = Counter(each["finding"] for each in results)
    places = len({each["repository"] for each in results})
    seconds = statistics.median(each["seconds"] for each in results) if results else 0
    lines += ["", f"{found['sound']} of {len(results)} sound ({found['sound'] / max(1, len(results)):.0%})"
              f" in {places} repositories; median {seconds:.0f} s."]  # fmt: skip
    return "\n".join([*lines, ", ".join(f"{name}: {number}" for name, number in found.most_common())])


def main() -> None:
    """Draw, try what was not tried yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, action="append", required=True, help="a git folder or a bundle")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--pull-requests", type=int, default=15, help="how many are made pull-request tasks")
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--since", default="2019-06-01")
    parser.add_argument("--seconds", type=float, default=1200, help="the most that one commit may take")
    parser.add_argument("--jobs", type=int, default=1, help="commits at a time")
    parser.add_argument("--results", type=Path, default=Path("commits.jsonl"))
    parser.add_argument("--clones", type=Path, default=Path(tempfile.gettempdir(), "commits-clones"))
    parser.add_argument("--list", action="store_true", help="only print what is drawn")
    asked = parser.parse_args()
    asked.clones.mkdir(parents=True, exist_ok=True)
    wanted = drawn(
        [opened(each.absolute(), asked.clones) for each in asked.repository], asked.count, asked.seed, asked.since
    )
    if asked.list:
        for place, sha in wanted:
            print(place.name, git(place, "log", "-1", "--format=%h %cs %s", sha).strip())
        return
    lines = asked.results.read_text().splitlines() if asked.results.exists() else []
    known = {(each["repository"], each["sha"]): each for each in map(json.loads, lines)}
    proposals = set(wanted[: asked.pull_requests])
    waiting = [(place, sha) for place, sha in wanted if (place.name, sha) not in known]
    with ThreadPoolExecutor(asked.jobs) as pool, asked.results.open("a") as stream:
        for future in as_completed(
            pool.submit(tried, place, sha, asked.seconds, proposal=(place, sha) in proposals) for place, sha in waiting
        ):
            result = future.result()
            known[result["repository"], result["sha"]] = result
            stream.write(json.dumps(result) + "\n")
            stream.flush()
            print(f"{result['repository']} {result['sha'][:10]} {result['finding']} {result['seconds']:.0f} s",
                  file=sys.stderr)  # fmt: skip
    print(table([known[place.name, sha] for place, sha in wanted]))


if __name__ == "__main__":
    main()
