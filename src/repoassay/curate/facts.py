"""What is known of a candidate, each fact with its value and where it was read; what nobody says is unknown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from repoassay.construct import Project, licence_of
from repoassay.curate.candidates import RepositoryCandidate, RepositorySource, project_of
from repoassay.curate.readme import find_readme, readme_commands
from repoassay.curate.rules import Value
from repoassay.survey import survey_repository
from repoassay.text import join_names, normalize_name

__all__ = ["RepositoryFact", "facts_of", "published_repositories"]

_LANGUAGES = {
    ".py": "Python", ".js": "JavaScript", ".ts": "TypeScript", ".c": "C", ".h": "C", ".cpp": "C++", ".cc": "C++",
    ".hpp": "C++", ".rs": "Rust", ".go": "Go", ".java": "Java", ".pyx": "Cython", ".cu": "CUDA", ".rb": "Ruby",
    ".f90": "Fortran", ".jl": "Julia", ".r": "R", ".m": "Objective-C", ".kt": "Kotlin", ".cs": "C#", ".php": "PHP",
}  # fmt: skip
_COMPILED = ("Cython", "C", "C++", "Rust", "CUDA", "Fortran")
_WEIGHTS = (
    ".pt",
    ".pth",
    ".onnx",
    ".h5",
    ".ckpt",
    ".safetensors",
    ".pb",
    ".tflite",
    ".caffemodel",
    ".weights",
    ".gguf",
)
_FETCHES = re.compile(
    r"from_pretrained\(|torch\.hub\.(?:load|download)|hf_hub_download|snapshot_download|model_zoo\.load_url"
    r"|load_state_dict_from_url|\.(?:pth|ckpt|onnx|safetensors|pt)[\"'?)]|gdown|pretrained (?:model|weights)",
    re.IGNORECASE,
)
_TEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_tests?|tests?)\.py$")


@dataclass(frozen=True, slots=True)
class RepositoryFact:
    """A value, and where it was read or why it is unknown."""

    value: Value
    source: str


def facts_of(
    candidate: RepositoryCandidate, source: RepositorySource, suites: Mapping[str, Collection[str]]
) -> dict[str, RepositoryFact]:
    """Look at a candidate's tree and return what is known of it by name of the fact.

    Args:
        candidate: Which, with what its metadata file says.
        source: Its tree.
        suites: Published suite -> names of the repositories it has tasks of.
    """
    project = project_of(source.tree)
    measures = survey_repository(source.tree).measures
    readme = find_readme(project.files)
    commands = readme_commands(project.text(readme)) if readme else ()
    licence, where = licence_of(project)
    languages = _languages(project)
    compiled = [name for name in languages if name in _COMPILED]
    tests = [path for path in project.files if _TEST.search(path)]
    return {
        "name": RepositoryFact(candidate.name, "its file's name"),
        "language": RepositoryFact(languages[0] if languages else None, "bytes of files by suffix"),
        "stars": _metadata_fact(candidate, "stars", int),
        "archived": _metadata_fact(candidate, "archived", bool),
        "last_commit": RepositoryFact(source.day, source.day_source),
        "commits": RepositoryFact(
            source.commits, "git" if source.kind == "git" else "a source distribution has no history"
        ),
        "licence": RepositoryFact(None if licence == "unknown" else licence, where or "no file says"),
        "readme.commands": RepositoryFact(len(commands), readme or "it has no README"),
        "tests": RepositoryFact(len(tests), "names of files"),
        "weights": _weights(project, readme),
        "compiled": RepositoryFact(compiled[0] if compiled else "none", "files by suffix"),
        "size": RepositoryFact(measures.bytes, "survey"),
        "files": RepositoryFact(measures.files, "survey"),
        "code_lines": RepositoryFact(measures.code_lines, "survey"),
        "overlap": _overlap(candidate, source, suites),
    }


def published_repositories(suites: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """Suite -> names of its repositories, in the form in which names are compared."""
    return {suite: {normalize_name(name) for name in names} for suite, names in suites.items()}


def _metadata_fact(candidate: RepositoryCandidate, name: str, kind: type) -> RepositoryFact:
    value = candidate.given.get(name)
    where = f"metadata file: {candidate.given.get('source', 'no source stated')}"
    if kind is bool and isinstance(value, bool):
        return RepositoryFact("yes" if value else "no", where)
    if kind is int and isinstance(value, int) and not isinstance(value, bool):
        return RepositoryFact(value, where)
    return RepositoryFact(None, f"no metadata file says its {name}")


def _languages(project: Project) -> list[str]:
    sizes: Counter[str] = Counter()
    for path, entry in project.files.items():
        language = _LANGUAGES.get(PurePosixPath(path).suffix.lower())
        if language:
            sizes[language] += entry.size
    return [language for language, size in sizes.most_common() if size]


def _weights(project: Project, readme: str | None) -> RepositoryFact:
    held = [path for path in project.files if path.lower().endswith(_WEIGHTS)]
    if held:
        return RepositoryFact("bundled", join_names(held, 3))
    for path in ([readme] if readme else []) + [path for path in project.files if path.endswith(".py")]:
        if "test" not in path and (found := _FETCHES.search(project.text(path))):
            return RepositoryFact("needed", f"{path}: {found[0]}")
    return RepositoryFact("none", "no file of weights, and nothing that fetches one")


def _overlap(
    candidate: RepositoryCandidate, source: RepositorySource, published: Mapping[str, Collection[str]]
) -> RepositoryFact:
    names = {normalize_name(candidate.name), normalize_name(source.package)} - {""}
    suites = [suite for suite, repositories in published.items() if names & set(repositories)]
    return RepositoryFact(
        " ".join(suites) or "none", f"{len(published)} suites looked at: {join_names(sorted(published), 6)}"
    )
