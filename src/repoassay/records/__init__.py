"""Run folders on disk: append-only, one folder an attempt; files are the truth.

::

    runs/<run>/run.json            the plan, written once
    runs/<run>/journal.jsonl       one event a line, appended and fsynced; the truth for resume
    runs/<run>/attempts/<id>/      attempt.json verdict.json submission/ transcript/ log.txt

Other files of the room: JSON lines (`lines`), versions of records (`versions`), the reader of attempts (`attempts`),
slots of a plan (`slots`), shares of one command's work (`shares`) and of a run (`run_shares`), copies of runs on stores
(`run_store`), verdicts by what they rest on (`verdicts`). Knows types alone: not who ran an attempt, nor how it was
graded.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.records.attempt_index import (
        IndexedAttempt as IndexedAttempt,
        IndexedRun as IndexedRun,
        check_and_index as check_and_index,
        extend_index as extend_index,
        index_run as index_run,
        undisturbed as undisturbed,
    )
    from repoassay.records.attempts import (
        ALL as ALL,
        TABLE as TABLE,
        finished_ids as finished_ids,
        read_attempt as read_attempt,
    )
    from repoassay.records.cache_root import cache_path as cache_path
    from repoassay.records.calls import (
        JOURNAL as JOURNAL,
        STEPS as STEPS,
        journal_spent as journal_spent,
        read_calls as read_calls,
        read_steps as read_steps,
        run_spent as run_spent,
        steps_file as steps_file,
    )
    from repoassay.records.durable_write import write_once as write_once
    from repoassay.records.file_prefix import FilePrefix as FilePrefix, longest_prefix as longest_prefix
    from repoassay.records.files import (
        load_toml as load_toml,
        load_yaml as load_yaml,
        many_dots as many_dots,
        read_regular as read_regular,
        reason as reason,
    )
    from repoassay.records.folder_check import check_run_files as check_run_files, check_sound as check_sound
    from repoassay.records.index_file import (
        index_path as index_path,
        index_transaction as index_transaction,
        open_index as open_index,
        with_index as with_index,
    )
    from repoassay.records.journal import Journal as Journal
    from repoassay.records.lines import (
        OBJECTS as OBJECTS,
        Codec as Codec,
        JsonLines as JsonLines,
        LinesRead as LinesRead,
        append_line as append_line,
        numbered_lines as numbered_lines,
        record_codec as record_codec,
    )
    from repoassay.records.remote_store import is_store_url as is_store_url, store_url as store_url
    from repoassay.records.run_shares import (
        JournalledAttempt as JournalledAttempt,
        RunDivision as RunDivision,
        collect_journals as collect_journals,
        division_events as division_events,
        end_division as end_division,
        journalled_attempts as journalled_attempts,
        read_division as read_division,
        share_journal as share_journal,
        share_lock_file as share_lock_file,
        write_division as write_division,
    )
    from repoassay.records.run_store import (
        StoreCount as StoreCount,
        holds_run as holds_run,
        pull_run as pull_run,
        push_run as push_run,
    )
    from repoassay.records.runs import FinishedAttempt as FinishedAttempt, RunFolder as RunFolder
    from repoassay.records.shares import (
        WorkShare as WorkShare,
        part_files as part_files,
        parts_folder as parts_folder,
    )
    from repoassay.records.slots import (
        AttemptStatus as AttemptStatus,
        EndedAttempt as EndedAttempt,
        Slot as Slot,
        SlotStatus as SlotStatus,
        counting_attempts as counting_attempts,
        places as places,
        slots_of as slots_of,
    )
    from repoassay.records.strengths import read_strengths as read_strengths, write_strengths as write_strengths
    from repoassay.records.verdicts import (
        KEPT as KEPT,
        SqliteFile as SqliteFile,
        VerdictCache as VerdictCache,
        verdict_key as verdict_key,
    )
    from repoassay.records.versions import (
        EncodedJson as EncodedJson,
        NewerRecord as NewerRecord,
        check_version as check_version,
        parse as parse,
        parse_object as parse_object,
        to_json as to_json,
        validation_reason as validation_reason,
        with_version as with_version,
    )
else:
    __getattr__, __dir__ = attach(__name__)
