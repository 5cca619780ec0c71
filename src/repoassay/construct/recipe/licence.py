"""The licence of a repository as an SPDX identifier, read off its metadata or the text of its LICENSE file."""

from __future__ import annotations

import re

from repoassay.construct.recipe.declarations import setup_arguments
from repoassay.construct.recipe.project import Project, at, string_list

__all__ = ["licence_of"]

_FILES = ("LICENSE*", "LICENCE*", "COPYING*", "license*", "License*")
_PHRASES = (
    ("Apache-2.0", r"Apache License\W+Version 2\.0"),
    ("AGPL-3.0-only", r"GNU AFFERO GENERAL PUBLIC LICENSE\W+Version 3"),
    ("LGPL-3.0-only", r"GNU LESSER GENERAL PUBLIC LICENSE\W+Version 3"),
    ("LGPL-2.1-only", r"GNU LESSER GENERAL PUBLIC LICENSE\W+Version 2\.1"),
    ("GPL-3.0-only", r"GNU GENERAL PUBLIC LICENSE\W+Version 3"),
    ("GPL-2.0-only", r"GNU GENERAL PUBLIC LICENSE\W+Version 2"),
    ("MPL-2.0", r"Mozilla Public License,?\W+(?:Version|v\.) ?2\.0"),
    ("BSD-3-Clause", r"Redistribution and use in source and binary form.*(?:Neither the name|name.{0,200}may not)"),
    ("BSD-2-Clause", r"Redistribution and use in source and binary forms"),
    ("ISC", r"Permission to use, copy, modify, and(?:/or)? distribute this software for any purpose"),
    ("MIT", r"Permission is hereby granted, free of charge, to any person obtaining a copy"),
    ("PSF-2.0", r"PYTHON SOFTWARE FOUNDATION LICENSE"),
    ("Unlicense", r"This is free and unencumbered software released into the public domain"),
)  # fmt: skip
_CLASSIFIERS = {
    "MIT License": "MIT", "BSD License": "BSD-3-Clause", "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC", "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}  # fmt: skip
_SPDX = re.compile(r"[A-Za-z0-9.+-]{2,40}(?: (?:OR|AND|WITH) [A-Za-z0-9.+-]{2,40}){0,4}")


def licence_of(project: Project) -> tuple[str, str]:
    """Return the licence and where it stands; `unknown` and nothing where no file says."""
    document = project.toml("pyproject.toml")
    stated = at(document, "project", "license")
    if isinstance(stated, str) and _SPDX.fullmatch(stated):
        return stated, "license in pyproject.toml"
    packaged = project.json("package.json").get("license")
    if isinstance(packaged, str) and _SPDX.fullmatch(packaged):
        return packaged, "license in package.json"
    found = {spdx: path for path in project.matching(*_FILES) if (spdx := _by_text(project.text(path)))}
    if found:
        return " OR ".join(found) if len(found) < 3 else next(iter(found)), next(iter(found.values()))
    classifiers = [*string_list(at(document, "project", "classifiers")),
                   *string_list(project.ini("setup.cfg").get("metadata", "classifiers", fallback="") or ""),
                   *string_list(setup_arguments(project).get("classifiers"))]  # fmt: skip
    for each in classifiers:
        spdx = _CLASSIFIERS.get(each.rpartition(" :: ")[2]) if each.startswith("License") else None
        if spdx:
            return spdx, "the classifiers"
    poetry = at(document, "tool", "poetry", "license")
    return (poetry, "license of poetry") if isinstance(poetry, str) and _SPDX.fullmatch(poetry) else ("unknown", "")


def _by_text(text: str) -> str | None:
    flat = " ".join(text.split())
    return next((spdx for spdx, phrase in _PHRASES if re.search(phrase, flat, re.IGNORECASE)), None)
