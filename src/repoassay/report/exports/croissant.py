"""A suite described for data catalogues: Croissant metadata with one record a task.

It describes tasks and never holds what only a judge may see: no hidden test, no solution, no text of a task.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from repoassay.report.exporters import ExportSource
from repoassay.tasks import SuiteFolder, TaskFolder

__all__ = ["Croissant"]

_CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"}, "equivalentProperty": "cr:equivalentProperty",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field",
    "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty", "fileSet": "cr:fileSet", "format": "cr:format",
    "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key",
    "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path", "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
_FIELDS = {
    "id": "The task's id.", "title": "What it is about, in a line.", "kind": "What is handed in.",
    "domain": "Its field.", "repository": "The repository it is set in.", "licence": "Of the task.",
    "digest": "Of all its files, as verdicts name it.",
}  # fmt: skip


class Croissant:
    """One JSON-LD document; the records stand in it."""

    title = "Croissant metadata of a suite, one record a task"
    takes = ("suite",)
    version = "Croissant 1.1"
    lost = ("Texts of tasks, tests, solutions and repositories: the document describes them.",)

    def export(self, source: ExportSource) -> str:
        """Return the document."""
        assert source.suite is not None
        return json.dumps(_document(source.suite), indent=2, ensure_ascii=False) + "\n"


def _document(folder: SuiteFolder) -> dict[str, Any]:
    suite = folder.suite
    description = suite.description or suite.title
    document: dict[str, Any] = {
        "@context": _CONTEXT, "@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": suite.name, "description": description, "version": suite.version, "url": f"urn:repoassay:{suite.name}",
        "keywords": ["code agents", "evaluation", *sorted({task.task.domain for task in folder.tasks})],
        "distribution": [_described(folder)] if (folder.path / "suite.toml").is_file() else [],
        "recordSet": [_records(folder.tasks)],
    }  # fmt: skip
    if suite.licence:
        document["license"] = suite.licence
    if suite.citation:
        document["citeAs"] = suite.citation
    return document


def _described(folder: SuiteFolder) -> dict[str, Any]:
    content = (folder.path / "suite.toml").read_bytes()
    return {
        "@type": "cr:FileObject", "@id": "suite.toml", "name": "suite.toml", "contentUrl": "suite.toml",
        "encodingFormat": "application/toml", "sha256": hashlib.sha256(content).hexdigest(),
        "contentSize": f"{len(content)} B",
    }  # fmt: skip


def _records(tasks: tuple[TaskFolder, ...] | list[TaskFolder]) -> dict[str, Any]:
    fields = [
        {"@type": "cr:Field", "@id": f"tasks/{name}", "name": name, "description": about, "dataType": "sc:Text"}
        for name, about in _FIELDS.items()
    ]
    return {
        "@type": "cr:RecordSet", "@id": "tasks", "name": "tasks", "description": "The tasks.",
        "key": {"@id": "tasks/id"}, "field": fields, "data": [_record(folder) for folder in tasks],
    }  # fmt: skip


def _record(folder: TaskFolder) -> dict[str, str]:
    task = folder.task
    values = (task.id, task.title, task.kind.value, task.domain, task.repository.name, task.licence, folder.digest)
    return {f"tasks/{name}": value for name, value in zip(_FIELDS, values, strict=True)}
