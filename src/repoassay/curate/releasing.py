"""A quarter's release: proven tasks, those of the quarter before, the retired kept readable, manifest and digest."""

from __future__ import annotations

import datetime
import hashlib
import re
import shutil
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from repoassay.curate.draft_file import files_below
from repoassay.curate.evidence import read_toml, write_toml
from repoassay.curate.private_share import choose_private, earlier_private
from repoassay.curate.proving import is_proven
from repoassay.errors import BadInput
from repoassay.formats import toml_string
from repoassay.grading import names
from repoassay.tasks import SuiteFolder, TaskFolder, find_suite
from repoassay.text import join_names, printable, quote, suggest
from repoassay.workspace import check_signature, sign_file

__all__ = ["DIGEST", "RELEASE", "Release", "check_release", "read_release", "release_suite"]

RELEASE, DIGEST = "release/release.toml", "release/digest.txt"
_MANIFEST, _CHANGES = "release/manifest.tsv", "release/changes.md"
_QUARTER = re.compile(r"\d{4}Q[1-4]")
_MOST_ANCHORS = 10
_STAYS_PRIVATE = "it stays private"


@dataclass(frozen=True, slots=True)
class Release:
    """What a release holds: tasks added, kept and retired (with reasons), anchors, and those left out with reasons.

    `private` are tasks of which it holds the digests alone, `private_path` the bundle with them.
    """

    path: Path
    quarter: str
    digest: str
    added: tuple[str, ...]
    kept: tuple[str, ...]
    retired: Mapping[str, str]
    anchors: tuple[str, ...]
    left_out: Mapping[str, str]
    signature: Path | None
    private: tuple[str, ...] = ()
    private_path: Path | None = None


def release_suite(
    suite: SuiteFolder, place: Path, quarter: str, *, today: datetime.date, previous: Path | None = None,
    retirements: Mapping[str, str] | None = None, anchors: int = _MOST_ANCHORS, key: Path | None = None,
    private_share: float = 0.0, private_before: Path | None = None,
) -> Release:  # fmt: skip
    """Write a quarter's release into a new folder, and its private tasks, where there are any, into one beside it.

    Args:
        suite: Tasks that may be added; only those that are proven are.
        place: The release; must not exist.
        quarter: Such as 2026Q4.
        today: The day on which added tasks are first published.
        previous: The release of the quarter before, whose tasks stay as they are.
        retirements: Task -> why it is retired now.
        anchors: How many tasks of the quarter before link the scores, at most.
        key: The private key that signs the digest; None leaves it unsigned.
        private_share: The share of added tasks that go into the bundle `PLACE-private` instead, 0 to 1.
        private_before: The private bundle of the quarter before, whose tasks stay private.

    Raises:
        BadInput: When a task to retire is none, a task was changed since it was released, or nothing would be live.
    """
    if not _QUARTER.fullmatch(quarter):
        raise BadInput(f"{quote(quarter)} is no quarter.", "Write one as 2026Q4.")
    bundle = place.with_name(f"{place.name}-private")
    for each in (place, bundle):
        if each.exists():
            raise BadInput(f"The folder {printable(str(each), 300)} exists.", "Choose another with --out.")
    earlier = read_release(previous) if previous else {}
    if earlier and str(earlier["quarter"]) >= quarter:
        raise BadInput(f"The release before is of {earlier['quarter']}, not earlier than {quarter}.", "Check --before.")
    kept_private = earlier_private(earlier, private_before)
    old = find_suite(previous, metrics=names()).tasks if previous else ()
    writer = _Writer(suite, quarter, today, _entries_by_id(earlier))
    plan, hidden = writer.plan(old, dict(retirements or {}), kept_private, private_share)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.part-") as parts:
        part, private_part = (Path(parts, name) for name in ("release", "private"))
        private = {}
        if hidden.added or hidden.kept:
            secret = replace(writer, earlier=_entries_by_id(read_release(private_before) if private_before else {}))
            private = secret.write(private_part, hidden, private_before, 0, published_on=None)
        writer.write(part, plan, previous, anchors, published_on=today, private=sorted(private.values()))
        signature = sign_file(part / DIGEST, key) if key else None
        if private:
            private_part.rename(bundle)
        part.rename(place)
    facts = read_release(place)
    return Release(
        place, quarter, str(facts["digest"]), tuple(facts["added"]), tuple(facts["kept"]), plan.retired,
        tuple(facts["anchors"]), plan.left_out, place / f"{DIGEST}.sig" if signature else None, tuple(sorted(private)),
        bundle if private else None,
    )  # fmt: skip


def _entries_by_id(release: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {each["id"]: each for each in release.get("task", [])}


def read_release(path: Path) -> dict[str, Any]:
    """What a release says of itself.

    Raises:
        BadInput: When it is none.
    """
    remedy = "Name a folder that `repoassay curate release` wrote."
    facts = {"private": [], "task": [], **read_toml(path / RELEASE, "The release", remedy)}
    wrong = [name for name, kind in _SAID.items() if not isinstance(facts.get(name), kind)]
    if wrong or not all(isinstance(each, dict) and isinstance(each.get("id"), str) for each in facts["task"]):
        what = f"The release {printable(str(path / RELEASE), 300)} was changed: its"
        raise BadInput(f"{what} {quote((wrong or ['task'])[0])} is not as it is written.", remedy)
    return facts


_SAID = {"quarter": str, "digest": str, "added": list, "kept": list, "anchors": list, "private": list, "task": list}


def check_release(path: Path, signers: Path | None = None, who: str = "") -> list[str]:
    """Sentences on what is not as it was released, empty where all is; with signers, the signature too.

    Raises:
        BadInput: When it is no release, or is not signed and must be.
    """
    facts = read_release(path)
    try:
        lines = (path / _MANIFEST).read_text("utf-8")
        digest = (path / DIGEST).read_text("utf-8").split()[0]
    except (OSError, UnicodeDecodeError, IndexError) as error:
        raise BadInput(f"{printable(str(path), 300)} has no manifest or digest.", "Get the release again.") from error
    problems = []
    if hashlib.sha256(lines.encode()).hexdigest() != digest or digest != facts.get("digest"):
        problems.append("the manifest is not the one whose digest was released")
    digests = {parts[2]: parts[1] for line in lines.splitlines()[1:] if len(parts := line.split("\t")) == 3}
    there = dict(_entries(path))
    problems += [f"{name} is missing" for name in sorted(digests.keys() - there.keys())]
    problems += [f"{name} was added" for name in sorted(there.keys() - digests.keys())]
    problems += [
        f"{name} was changed" for name in sorted(digests.keys() & there.keys()) if digests[name] != there[name][1]
    ]
    if signers is not None and not check_signature(path / DIGEST, signers, who):
        problems.append(f"the signature is not of {quote(who)}")
    return problems


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which task goes where: folders by id, and why each is retired or left out."""

    added: dict[str, TaskFolder]
    kept: dict[str, TaskFolder]
    gone: dict[str, TaskFolder]
    retired: dict[str, str]
    left_out: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Writer:
    suite: SuiteFolder
    quarter: str
    today: datetime.date
    earlier: Mapping[str, Mapping[str, Any]]

    def plan(
        self, earlier_tasks: Sequence[TaskFolder], retirements: dict[str, str], private: Sequence[TaskFolder],
        share: float,
    ) -> tuple[_Plan, _Plan]:  # fmt: skip
        """Decide what is added, kept, retired and left out, of the public tasks and of the private ones."""
        secret = {folder.task.id: folder for folder in private}
        before = {folder.task.id: folder for folder in earlier_tasks}
        unknown = sorted(retirements.keys() - before.keys())
        if unknown:
            raise BadInput(f"{quote(unknown[0])} is no task of the quarter before.", suggest(unknown[0], before))
        gone = {name: folder for name, folder in before.items() if folder.task.status == "retired"}
        kept = {name: folder for name, folder in before.items() if name not in gone and name not in retirements}
        added: dict[str, TaskFolder] = {}
        left_out: dict[str, str] = {}
        for folder in self.suite.tasks:
            name = folder.task.id
            if name in before:
                if self.earlier.get(name, {}).get("drafted_digest") != folder.digest:
                    left_out[name] = "it was changed since it was released; a changed task needs a new id"
            elif name in secret:
                left_out[name] = _STAYS_PRIVATE
            elif folder.task.status == "retired":
                left_out[name] = "it is retired"
            elif not is_proven(self.suite.path, folder):
                left_out[name] = "it is not proven as it is now"
            else:
                added[name] = folder
        chosen = choose_private(added, share, self.quarter)
        hidden = _Plan({name: added.pop(name) for name in chosen}, secret, {}, {}, {})
        if not added and not kept:
            why = f": {join_names([f'{name} ({reason})' for name, reason in left_out.items()], 5)}" if left_out else ""
            raise BadInput(f"No task would be live{why}.", "Prove the suite: repoassay curate prove SUITE.")
        gone |= {name: before[name] for name in retirements}
        return _Plan(added, kept, gone, retirements, left_out), hidden

    def write(
        self, part: Path, plan: _Plan, previous: Path | None, anchors: int, *, published_on: datetime.date | None,
        private: Sequence[str] = (),
    ) -> dict[str, str]:  # fmt: skip
        """Write everything below a folder of its own; returns each task's digest there.

        Args:
            part: The folder.
            plan: Which task goes where.
            previous: The release of the quarter before.
            anchors: How many tasks link the scores, at most.
            published_on: The day on which added tasks are first published; None where they are not.
            private: Digests of tasks that are kept private.
        """
        own = self.suite.suite
        before = find_suite(previous).suite if previous else own
        canary = before.canary or own.canary or f"{own.name} canary {uuid.uuid4()}"
        facts = {
            "name": before.name, "version": self.quarter, "title": before.title, "description": before.description,
            "licence": before.licence, "release": self.quarter, "canary": canary,
        }  # fmt: skip
        write_toml(part / "suite.toml", {"suite": {key: value for key, value in facts.items() if value}})
        for several in (plan.kept, plan.gone, plan.added):
            for name, folder in several.items():
                self._copy(folder, part / "tasks" / name)
        for name in plan.added:
            day = {"first_published": published_on.isoformat()} if published_on else {}
            _edit(part / "tasks" / name, day, "[dates]", canary)
        for name, why in plan.retired.items():
            _edit(part / "tasks" / name, {"status": "retired", "since": self.quarter, "why": why}, "[task]")
        sources = [folder.task.repository.source for several in (plan.kept, plan.gone, plan.added)
                   for folder in several.values()]  # fmt: skip
        for name in sorted({each.removeprefix("bundled:") for each in sources if each.startswith("bundled:")}):
            for place in (previous / "repositories" if previous else None, self.suite.repositories):
                if place is not None and (place / name).is_dir() and not (part / "repositories" / name).exists():
                    shutil.copytree(place / name, part / "repositories" / name, symlinks=True)
        released = find_suite(part, metrics=names())
        chosen = sorted(plan.kept, key=lambda name: hashlib.sha256(f"{self.quarter} {name}".encode()).digest())[
            :anchors
        ]
        self._record(part, plan, released, sorted(chosen), private)
        return {folder.task.id: folder.digest for folder in released.tasks}

    def _copy(self, folder: TaskFolder, to: Path) -> None:
        shutil.copytree(folder.path, to, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))

    def _record(
        self, part: Path, plan: _Plan, released: SuiteFolder, anchors: list[str], private: Sequence[str]
    ) -> None:
        (part / "release").mkdir()
        (part / _CHANGES).write_text(self._changes(plan, anchors, private), "utf-8")
        lines = "".join(f"{size}\t{digest}\t{name}\n" for name, (size, digest) in sorted(_entries(part).items()))
        manifest = f"size\tsha256\tpath\n{lines}"
        (part / _MANIFEST).write_text(manifest, "utf-8")
        digest = hashlib.sha256(manifest.encode()).hexdigest()
        (part / DIGEST).write_text(f"{digest}  {released.suite.name} {self.quarter}\n", "utf-8")
        entries = []
        for folder in released.tasks:
            name = folder.task.id
            drafted = (
                plan.added[name].digest if name in plan.added else self.earlier.get(name, {}).get("drafted_digest")
            )
            since = self.quarter if name in plan.added else self.earlier.get(name, {}).get("added")
            entries.append({
                "id": name, "status": folder.task.status, "digest": folder.digest, "drafted_digest": drafted,
                "added": since, "why": folder.task.why or None,
            })  # fmt: skip
        write_toml(part / RELEASE, {
            "quarter": self.quarter, "day": self.today, "digest": digest, "added": sorted(plan.added),
            "kept": sorted(plan.kept), "retired": sorted(plan.retired), "anchors": anchors,
            "private": list(private), "task": entries,
        }, "Written by `repoassay curate release`. The digest is of release/manifest.tsv.")  # fmt: skip

    def _changes(self, plan: _Plan, anchors: Sequence[str], private: Sequence[str]) -> str:
        lines = [f"# {self.quarter}", "", f"Released on {self.today.isoformat()}.", ""]
        for title, tasks in (
            ("Added", {name: folder.task.title for name, folder in plan.added.items()}),
            ("Retired", plan.retired),
            ("Kept", {name: "anchor task" if name in anchors else "" for name in plan.kept}),
            ("Private", dict.fromkeys(private, "")),
            ("Left out", {name: why for name, why in plan.left_out.items() if why != _STAYS_PRIVATE}),
        ):
            lines += [f"## {title}", ""]
            lines += [f"* {name}: {printable(why, 500)}" if why else f"* {name}" for name, why in sorted(tasks.items())]
            lines += ["" if tasks else "None.\n"]
        return "\n".join(lines)


def _edit(task: Path, values: Mapping[str, str], section: str, canary: str = "") -> None:
    """Put keys into a section of a task.toml, which keeps the rest as it was written."""
    place = task / "task.toml"
    lines = place.read_text("utf-8").splitlines()
    added = [f"{key} = {toml_string(value)}" for key, value in values.items()]
    at = next((number for number, line in enumerate(lines) if line.strip() == section), None)
    if at is None:
        lines += ["", section, *added]
    else:
        end = next((n for n in range(at + 1, len(lines)) if lines[n].startswith("[")), len(lines))
        body = [line for line in lines[at + 1 : end] if line.partition("=")[0].strip() not in values]
        lines[at + 1 : end] = [*added, *body]
    head = [f"# {printable(canary, 100)}"] if canary else []
    place.write_text("\n".join([*head, *lines]) + "\n", "utf-8")


def _entries(release: Path) -> dict[str, tuple[int, str]]:
    """Size and sha256 of every file that a release vouches for, by path."""
    found = {}
    for name in files_below(release):
        if name.startswith(("audits/", "proofs/")) or (name.startswith("release/") and name != _CHANGES):
            continue
        content = (release / name).read_bytes()
        found[name] = (len(content), hashlib.sha256(content).hexdigest())
    return found
