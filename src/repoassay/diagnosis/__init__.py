"""Why an attempt failed, and whether it cheated: rules over trajectory and verdict.

Knows nothing of run folders, agents' own formats or reports: it is given a trajectory, a verdict and a task.
"""

from __future__ import annotations

from repoassay.diagnosis.case import Case
from repoassay.diagnosis.classes import SUBCLASSES, ErrorClass, Named, Subclass, parse_class
from repoassay.diagnosis.classifier import Answer, Ask, classify, score_classifier
from repoassay.diagnosis.diagnose import Assigned, Diagnosis, diagnose
from repoassay.diagnosis.evidence import Evidence, evidence_text
from repoassay.diagnosis.integrity import Check, Finding, Severity, State, integrity
from repoassay.diagnosis.labels import LABELS, Effective, Label, effective, label_book, label_from_text
from repoassay.diagnosis.rules import Rule, builtin_rules, load_rules
from repoassay.diagnosis.scoring import Score, confusion_text, score

__all__ = [
    "LABELS",
    "SUBCLASSES",
    "Answer",
    "Ask",
    "Assigned",
    "Case",
    "Check",
    "Diagnosis",
    "Effective",
    "ErrorClass",
    "Evidence",
    "Finding",
    "Label",
    "Named",
    "Rule",
    "Score",
    "Severity",
    "State",
    "Subclass",
    "builtin_rules",
    "classify",
    "confusion_text",
    "diagnose",
    "effective",
    "evidence_text",
    "integrity",
    "label_book",
    "label_from_text",
    "load_rules",
    "parse_class",
    "score",
    "score_classifier",
]
