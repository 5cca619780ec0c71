"""What people say of submissions, and how it is asked: rubrics, ratings, studies, adjudication, reliability.

Knows nothing of web pages, run folders, signals or judges: what is to be reviewed is given to it, and it keeps what
raters answer.

The questions: `plan`, `rubric`, `answers`. What raters see, and when: `study`, `scrub`, `assignment`. Storage (these
import SQLAlchemy, the others do not): `database`, `tables`, `studies`, `plan_store`, `rater_accounts`, `leases`,
`drafts`, `submitting`, `comments`, `adjudication_store`; `migrations` holds files of SQL. What follows: `adjudication`,
`item_summary`, and of its rows `mergeability_gap`, `failures`, `minutes`, `rater_statistics`, `reliability`; all of it
in one document: `figures_document`. Which runs are reviewed: `sampling`. In and out: `exchange`, `simple_table`, and
the tidy table of a study for analyses elsewhere: `tidy_columns`, `tidy_table`, `tidy_files`,
`tidy_import` with `tidy_cells`, `study_import`.
"""

from __future__ import annotations

from repoassay.errors import MissingExtra
from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.review.account_binding import (
        PendingLogin as PendingLogin,
        begin_login as begin_login,
        bind_account as bind_account,
        bound_raters as bound_raters,
        refuse_login as refuse_login,
        take_login as take_login,
    )
    from repoassay.review.adjudication import (
        Adjudication as Adjudication,
        DisagreementCause as DisagreementCause,
        consensus as consensus,
        disputes as disputes,
        label_of as label_of,
        latest as latest,
    )
    from repoassay.review.adjudication_store import adjudications_of as adjudications_of, settle as settle
    from repoassay.review.answers import Answers as Answers, missing as missing, parse_answers as parse_answers
    from repoassay.review.comments import (
        Comment as Comment,
        add_comment as add_comment,
        comments_by as comments_by,
        comments_on as comments_on,
        remove_comment as remove_comment,
    )
    from repoassay.review.database import (
        Conflict as Conflict,
        append as append,
        event_log as event_log,
        open_database as open_database,
    )
    from repoassay.review.drafts import draft_of as draft_of, save_draft as save_draft
    from repoassay.review.exchange import (
        FORMATS as FORMATS,
        ratings_to_jsonl as ratings_to_jsonl,
        read_ratings as read_ratings,
        write_ratings as write_ratings,
    )
    from repoassay.review.faults import faulty_changes as faulty_changes
    from repoassay.review.figures_document import (
        StudyFigures as StudyFigures,
        SystemDifference as SystemDifference,
        SystemFigures as SystemFigures,
        TaskDifference as TaskDifference,
        compare_systems as compare_systems,
        study_figures as study_figures,
        task_difference as task_difference,
    )
    from repoassay.review.instructions import (
        Expertise as Expertise,
        confirm_instructions as confirm_instructions,
        declare_expertise as declare_expertise,
        expertise_of as expertise_of,
        instructions_of as instructions_of,
        must_read as must_read,
        repositories_to_ask as repositories_to_ask,
        write_instructions as write_instructions,
    )
    from repoassay.review.item_summary import (
        ItemSummary as ItemSummary,
        set_aside as set_aside,
        summarize_items as summarize_items,
    )
    from repoassay.review.leases import (
        LeasedItem as LeasedItem,
        full_items as full_items,
        open_item as open_item,
        open_next as open_next,
        place_of as place_of,
        queue_of as queue_of,
        release as release,
        renew as renew,
    )
    from repoassay.review.mergeability_gap import Gap as Gap, controls as controls, gap as gap
    from repoassay.review.plan import (
        StudyPlan as StudyPlan,
        complete_plan as complete_plan,
        parse_plan as parse_plan,
        plan_from_toml as plan_from_toml,
        system_of as system_of,
    )
    from repoassay.review.plan_store import (
        Inclusion as Inclusion,
        amend_plan as amend_plan,
        amendments_of as amendments_of,
        decide_item as decide_item,
        excluded_items as excluded_items,
        freeze_plan as freeze_plan,
        inclusions_of as inclusions_of,
        note_inclusions as note_inclusions,
        plan_hash as plan_hash,
        plan_of as plan_of,
        save_plan as save_plan,
    )
    from repoassay.review.postings import (
        Posting as Posting,
        begin_posting as begin_posting,
        drop_posting as drop_posting,
        finish_posting as finish_posting,
        postings_of as postings_of,
    )
    from repoassay.review.preparation import AnswerKey as AnswerKey, ItemUse as ItemUse, key_for as key_for
    from repoassay.review.qualification import (
        allow_another_try as allow_another_try,
        preparation_of as preparation_of,
        require_agreement as require_agreement,
        required_agreement as required_agreement,
        use_item as use_item,
    )
    from repoassay.review.rater_accounts import (
        Rater as Rater,
        RaterRole as RaterRole,
        add_rater as add_rater,
        assign as assign,
        disable_rater as disable_rater,
        rater_by_token as rater_by_token,
        rater_named as rater_named,
        raters_of as raters_of,
        use_invitation as use_invitation,
    )
    from repoassay.review.rater_quality import control_accuracy as control_accuracy, rater_drift as rater_drift
    from repoassay.review.rater_statistics import anchoring as anchoring, severity as severity
    from repoassay.review.reliability import agreement as agreement, beside_tests as beside_tests
    from repoassay.review.rubric import (
        BUNDLED as BUNDLED,
        AnswerRole as AnswerRole,
        Rubric as Rubric,
        read_rubric as read_rubric,
    )
    from repoassay.review.sampling import Candidate as Candidate, Sample as Sample, draw as draw, siblings as siblings
    from repoassay.review.scrub import leaks as leaks, leaks_name as leaks_name, scrub_text as scrub_text
    from repoassay.review.simple_table import metr_example as metr_example
    from repoassay.review.studies import (
        close_study as close_study,
        create_study as create_study,
        hidden_of as hidden_of,
        is_closed as is_closed,
        item_names as item_names,
        items_of as items_of,
        payload_of as payload_of,
        read_rubric_of as read_rubric_of,
        reopen_study as reopen_study,
        study_names as study_names,
        study_of as study_of,
        uses_of as uses_of,
    )
    from repoassay.review.study import (
        FileVersions as FileVersions,
        Golden as Golden,
        HiddenPart as HiddenPart,
        Item as Item,
        ItemPayload as ItemPayload,
        Output as Output,
        RaterView as RaterView,
        Study as Study,
        StudyMode as StudyMode,
        blinded as blinded,
        check_study as check_study,
        opaque_names as opaque_names,
        rater_view as rater_view,
    )
    from repoassay.review.study_import import keep_records as keep_records
    from repoassay.review.study_rows import counted_rows as counted_rows
    from repoassay.review.submitting import (
        import_ratings as import_ratings,
        may_reveal as may_reveal,
        ratings_by as ratings_by,
        ratings_of as ratings_of,
        submit as submit,
    )
    from repoassay.review.tables import (
        events as events,
        judgements as judgements,
        judges as judges,
        raters as raters,
        ratings as ratings,
        sessions as sessions,
    )
    from repoassay.review.tidy_files import (
        TIDY_FORMATS as TIDY_FORMATS,
        arrow_installed as arrow_installed,
        read_tidy_rows as read_tidy_rows,
        write_tidy_folder as write_tidy_folder,
    )
    from repoassay.review.tidy_import import records_of_table as records_of_table
    from repoassay.review.tidy_table import StudyRecords as StudyRecords, study_records as study_records
    from repoassay.review.working_hours import (
        correct_hours as correct_hours,
        hours_of as hours_of,
        hours_to_csv as hours_to_csv,
        set_pay as set_pay,
    )
else:
    __getattr__, __dir__ = attach(__name__, lacking=lambda package: MissingExtra(package, "review"))
