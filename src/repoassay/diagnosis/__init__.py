"""Why an attempt failed, and whether it cheated: rules over trajectory and verdict.

Knows nothing of run folders, agents' own formats or reports: it is given a trajectory, a verdict and a task.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.diagnosis.case import Case as Case
    from repoassay.diagnosis.classes import (
        SUBCLASSES as SUBCLASSES,
        ErrorClass as ErrorClass,
        Named as Named,
        Subclass as Subclass,
        parse_class as parse_class,
    )
    from repoassay.diagnosis.classifier import (
        Answer as Answer,
        Ask as Ask,
        classify as classify,
        score_classifier as score_classifier,
    )
    from repoassay.diagnosis.diagnoser import Assigned as Assigned, Diagnosis as Diagnosis, diagnose as diagnose
    from repoassay.diagnosis.evidence import Evidence as Evidence, evidence_text as evidence_text, fact as fact
    from repoassay.diagnosis.integrity_checks import integrity as integrity
    from repoassay.diagnosis.integrity_checks.finding import (
        Check as Check,
        Finding as Finding,
        Severity as Severity,
        State as State,
    )
    from repoassay.diagnosis.labels import (
        LABELS as LABELS,
        Effective as Effective,
        Label as Label,
        effective as effective,
        label_book as label_book,
        label_from_text as label_from_text,
    )
    from repoassay.diagnosis.rules import Rule as Rule, builtin_rules as builtin_rules, load_rules as load_rules
    from repoassay.diagnosis.scoring import Score as Score, confusion_text as confusion_text, score as score
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "case": ("Case",),
            "classes": ("ErrorClass", "Named", "SUBCLASSES", "Subclass", "parse_class"),
            "classifier": ("Answer", "Ask", "classify", "score_classifier"),
            "diagnoser": ("Assigned", "Diagnosis", "diagnose"),
            "evidence": ("Evidence", "evidence_text", "fact"),
            "integrity_checks": ("integrity",),
            "integrity_checks.finding": ("Check", "Finding", "Severity", "State"),
            "labels": ("Effective", "LABELS", "Label", "effective", "label_book", "label_from_text"),
            "rules": ("Rule", "builtin_rules", "load_rules"),
            "scoring": ("Score", "confusion_text", "score"),
        },
    )
