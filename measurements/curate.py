"""Curation end to end on twelve real packages and two quarters, without a model and once with a scripted one.

Source distributions come from the configured index through uv into a scratch folder; nothing of them is kept. Drafts
are those of examples/curate. It prints the table of docs/curating.md.

    nice python measurements/curate.py [SCRATCH]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

from repoassay.sandbox import Cache, uv_program
from repoassay.workspace.sources import fetch_sdist

ROOT = Path(__file__).resolve().parent.parent
DRAFTS = ROOT / "examples" / "curate"
PACKAGES = (
    "bibtexparser<2", "chess", "geojson", "jsonpatch", "markdown", "mido", "prettytable", "srt", "tabulate", "unidiff",
    "vobject", "xmltodict",
)  # fmt: skip
FIRST = {
    "markdown": "markdown",
    "prettytable": "prettytable",
    "srt": "srt",
    "unidiff": "unidiff",
    "xmltodict": "xmltodict",
}
LATEST = ("markdown", "markdown-outline")
RULES = """rules = [
  "language = python", "last_commit within 5y",
  "licence in [MIT, BSD-2-Clause, BSD-3-Clause, Apache-2.0, ISC, MPL-2.0, PSF-2.0, Unlicense]",
  "readme.commands >= 1", "weights = none|bundled", "compiled = none", "size <= 50 MB",
  "overlap with published suites = none",
]
"""


def command(*arguments: str, codes: tuple[int, ...] = (0, 1)) -> Any:
    """Run `repoassay curate` with --json and return what it printed; a list where it printed a line each."""
    program = Path(sys.executable).with_name("repoassay")
    print("$ repoassay", *arguments, flush=True)
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise SystemExit(f"ended with {done.returncode}: {done.stderr}")
    return done.stdout


def told(*arguments: str) -> Any:
    """The JSON that a stage prints."""
    return json.loads(command("curate", *arguments, "--json"))["data"]


def fetch(scratch: Path) -> None:
    """Put the newest source distributions into `candidates/`, and their upload days into `facts.toml`."""
    lock = scratch / "lock"
    lock.mkdir()
    wanted = ", ".join(json.dumps(name) for name in PACKAGES)
    (lock / "pyproject.toml").write_text(
        f'[project]\nname = "scratch"\nversion = "0"\nrequires-python = ">=3.11"\ndependencies = [{wanted}]\n'
    )
    subprocess.run([uv_program(), "lock", "--quiet"], cwd=lock, check=True)
    names = {name.partition("<")[0] for name in PACKAGES}
    candidates = scratch / "candidates"
    candidates.mkdir()
    facts = []
    for package in tomllib.loads((lock / "uv.lock").read_text())["package"]:
        if package["name"] in names:
            sdist = package["sdist"]
            found = fetch_sdist(package["name"], package["version"], sdist["hash"].removeprefix("sha256:"), Cache())
            (candidates / found.name).write_bytes(found.read_bytes())
            day = sdist["upload-time"]
            facts.append(f'[{package["name"]}]\nuploaded = "{day}"\nsource = "upload time of the index"\n')
    (scratch / "facts.toml").write_text("\n".join(facts))
    (scratch / "rules.toml").write_text(RULES)


def dialogue(draft: Path, place: Path) -> None:
    """A scripted model that answers with the files of a draft."""
    files = {
        path.relative_to(draft).as_posix(): path.read_text() for path in sorted(draft.rglob("*")) if path.is_file()
    }
    answer = json.dumps({"kind": "turn", "text": json.dumps({"files": files})})
    place.write_text(answer + "\n")


def main(scratch: Path) -> None:
    """Do the whole and print what became of each candidate."""
    os.chdir(scratch)
    started = time.monotonic()
    fetch(scratch)
    fates: dict[str, list[str]] = {}
    for each in told("select", "--rules", "rules.toml", "--candidates", "candidates", "--metadata", "facts.toml",
                     "--out", "pool"):  # fmt: skip
        fates[each["name"]] = ["selected" if each["selected"] else f"refused: {each['why']}"]
    chosen = [name for name, fate in fates.items() if fate == ["selected"]]
    for each in told("verify", *(f"pool/{name}" for name in chosen)):
        fates[each["name"]].append("complete" if each["complete"] else f"incomplete: {each['why']}")
    for name, draft in FIRST.items():
        made = told("draft", f"pool/{name}", "--draft", str(DRAFTS / draft), "--out", "suite")
        fates[name].append(f"{made['task']}: " + ("admitted" if made["admitted"] else f"refused: {made['reasons'][0]}"))
    command("curate", "prove", "suite", "--times", "3", "--json", codes=(0,))
    key = scratch / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (scratch / "signers.txt").write_text(f"curator {(scratch / 'key.pub').read_text()}")
    print(told("release", "suite", "--quarter", "2026Q4", "--out", "release-2026Q4", "--key", "key"))
    dialogue(DRAFTS / "geojson", scratch / "answers.jsonl")
    made = told("draft", "pool/geojson", "--by", "model", "--model", "scripted/drafter", "--dialogue", "answers.jsonl",
                "--out", "suite")  # fmt: skip
    fates["geojson"].append(f"{made['task']} by a scripted model: " + ("admitted" if made["admitted"] else "refused"))
    name, draft = LATEST
    made = told("draft", f"pool/{name}", "--draft", str(DRAFTS / draft), "--out", "suite")
    fates[name].append(f"{made['task']}: " + ("admitted" if made["admitted"] else "refused"))
    command("curate", "prove", "suite", "--times", "3", "--json", codes=(0,))
    print(told("audit", "release-2026Q4", "--quarter", "2027Q1", "--install"))
    print(told("release", "suite", "--quarter", "2027Q1", "--before", "release-2026Q4", "--out", "release-2027Q1",
               "--retire", "srt-tidy-walk=passed by every agent of the last three runs", "--key", "key"))  # fmt: skip
    print(told("check", "release-2027Q1", "--signers", "signers.txt", "--signer", "curator"))
    for quarter in ("2026Q4", "2027Q1"):
        command("run", f"release-{quarter}", "--agent", "reference", "--agent", "copycat", "--out", f"runs-{quarter}")
    runs = {quarter: str(next((scratch / f"runs-{quarter}").glob("2*"))) for quarter in ("2026Q4", "2027Q1")}
    print(told("link", "release-2027Q1", "--runs-before", runs["2026Q4"], "--runs", runs["2027Q1"]))
    print(f"\n{time.monotonic() - started:.0f} s in all\n")
    for name, fate in sorted(fates.items()):
        print(f"| {name} | {'; '.join(fate)} |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True)
        main(Path(sys.argv[1]).resolve())
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
