"""Files of the field's other tools: their runs and tasks read into ours, and which formats there are.

A format that is read is an entry point `repoassay.importers`, one that is written an entry point
`repoassay.exporters` (`repoassay.report`). What is read was made elsewhere, so it is hostile, and what it reports is
kept as a report: nothing here was judged or metered by us until `judge_run` has done so.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.interchange.agent_files import json_object as json_object, plain_files as plain_files
    from repoassay.interchange.foreign_run import (
        ForeignAttempt as ForeignAttempt,
        ImportedRun as ImportedRun,
        ReportedResult as ReportedResult,
    )
    from repoassay.interchange.format_list import FormatEntry as FormatEntry, format_entries as format_entries
    from repoassay.interchange.harbor_registry import find_dataset as find_dataset, open_dataset as open_dataset
    from repoassay.interchange.harness_reports import HarnessReports as HarnessReports
    from repoassay.interchange.import_record import (
        TaskRefusal as TaskRefusal,
        keep_proof as keep_proof,
        kept_proofs as kept_proofs,
    )
    from repoassay.interchange.importers import (
        Importer as Importer,
        TaskImporter as TaskImporter,
        find_importer as find_importer,
    )
    from repoassay.interchange.run_import import import_run as import_run
    from repoassay.interchange.run_judging import begun_run as begun_run, judge_run as judge_run
    from repoassay.interchange.state_proof import StateProof as StateProof, prove_state_tasks as prove_state_tasks
    from repoassay.interchange.suite_import import (
        ImportedSuite as ImportedSuite,
        import_suite as import_suite,
    )
    from repoassay.interchange.verdict_scores import score_of_verdict as score_of_verdict
    from repoassay.interchange.verifier_script import read_verifier as read_verifier
else:
    __getattr__, __dir__ = attach(__name__)
