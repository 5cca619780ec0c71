"""The script formatted, and the tables of each statement."""

import json
import os
import re
from pathlib import Path

import sqlparse
from sqlparse import tokens as T

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

VERBS = {"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "SET"}
WRITES = {"INTO", "UPDATE", "TABLE", "VIEW", "EXISTS"}


def names(statement):
    """The first verb outside parentheses, and each `schema.name` with the keyword before it and its depth."""
    flat = [token for token in statement.flatten() if not token.is_whitespace and token.ttype not in T.Comment]
    keyword, verb, depth, found = "", None, 0, []
    for place, token in enumerate(flat):
        word = token.normalized.upper()
        depth += (word == "(") - (word == ")")
        if token.is_keyword:
            keyword = word.split()[-1]
            if verb is None and depth == 0 and word.split()[0] in VERBS:
                verb = word.split()[0]
        dotted = place + 2 < len(flat) and flat[place + 1].value == "." and token.ttype in T.Name
        if dotted and keyword in {"FROM", "JOIN", *WRITES}:
            found.append((keyword, f"{token.value}.{flat[place + 2].value}", depth))
    return verb, found


def review(number, statement):
    verb, found = names(statement)
    writes, reads = None, set()
    for keyword, name, depth in found:
        target = keyword in WRITES or (verb == "DELETE" and depth == 0)
        if target and writes is None:
            writes = name
        elif keyword in {"FROM", "JOIN"}:
            reads.add(name)
    return {"number": number, "kind": verb, "writes": writes, "reads": sorted(reads)}


script = (INPUTS / "nightly.sql").read_text(encoding="utf-8")
clean = sqlparse.format(script, strip_comments=True, reindent=True, keyword_case="upper").strip()
(OUTPUT / "nightly.sql").write_text(re.sub(r"\n{2,}", "\n\n", clean) + "\n", encoding="utf-8")
reviews = [review(number, statement) for number, statement in enumerate(sqlparse.parse(script), 1) if str(statement).strip()]
(OUTPUT / "statements.json").write_text(json.dumps(reviews, indent=2), encoding="utf-8")
