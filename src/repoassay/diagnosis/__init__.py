"""Why an attempt failed, and whether it cheated: rules over trajectory and verdict.

Knows nothing of run folders, agents' own formats or reports: a trajectory, a verdict and a task are given to it. Of
records it uses JSON lines, in which labels are kept.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.diagnosis.actions import action_of as action_of, shell_command_of as shell_command_of
    from repoassay.diagnosis.case import AttemptCase as AttemptCase, PackageRequest as PackageRequest
    from repoassay.diagnosis.classes import ErrorClass as ErrorClass, Subclass as Subclass, parse_class as parse_class
    from repoassay.diagnosis.classifier import (
        Ask as Ask,
        ClassifierReply as ClassifierReply,
        classify as classify,
        score_classifier as score_classifier,
    )
    from repoassay.diagnosis.diagnoser import (
        AssignedClass as AssignedClass,
        Diagnosis as Diagnosis,
        diagnose as diagnose,
    )
    from repoassay.diagnosis.evidence import Evidence as Evidence, evidence_text as evidence_text, fact as fact
    from repoassay.diagnosis.integrity_checks import integrity as integrity
    from repoassay.diagnosis.integrity_checks.finding import (
        IntegrityCheck as IntegrityCheck,
        IntegrityFinding as IntegrityFinding,
        IntegrityState as IntegrityState,
        Severity as Severity,
    )
    from repoassay.diagnosis.labels import (
        LABELS as LABELS,
        Effective as Effective,
        Label as Label,
        effective as effective,
        label_book as label_book,
        label_from_text as label_from_text,
    )
    from repoassay.diagnosis.printed import printed_cause as printed_cause
    from repoassay.diagnosis.rules import (
        DiagnosisRule as DiagnosisRule,
        builtin_rules as builtin_rules,
        load_rules as load_rules,
    )
    from repoassay.diagnosis.scoring import Score as Score, confusion_text as confusion_text, score as score
else:
    __getattr__, __dir__ = attach(__name__)
