"""From submissions to verdicts: criteria over metrics (deliverables), hidden tests over a patch (edits).

Knows tasks, diffs, the sandbox and prepared tasks; not who made a submission or where it is kept. `outcome.py` is the
way in.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.grading.base_trace.recording import BaseTraces as BaseTraces
    from repoassay.grading.canary_check import can_doubt as can_doubt
    from repoassay.grading.deliverable import Graded as Graded, Job as Job, grade_deliverables as grade_deliverables
    from repoassay.grading.edit import grade_edit as grade_edit, run_tests as run_tests
    from repoassay.grading.hidden_tests.javascript_script import SCRIPT as SCRIPT
    from repoassay.grading.hidden_tests.javascript_tokens import (
        LARGEST as LARGEST,
        Token as Token,
        argument_ends as argument_ends,
        pairs_of as pairs_of,
        tokens_of as tokens_of,
    )
    from repoassay.grading.hidden_tests.node import NODE_SUFFIXES as NODE_SUFFIXES, can_run_node as can_run_node
    from repoassay.grading.hidden_tests.parsing import (
        literal_value as literal_value,
        parse as parse,
        parse_anew as parse_anew,
    )
    from repoassay.grading.hidden_tests.prefork import WarmPool as WarmPool
    from repoassay.grading.hidden_tests.results import HiddenTestRun as HiddenTestRun
    from repoassay.grading.hidden_tests.run import run_hidden as run_hidden
    from repoassay.grading.hidden_tests.script_models import ASKED_MODELS as ASKED_MODELS, missing_keys as missing_keys
    from repoassay.grading.in_place.proof import TaskProof as TaskProof
    from repoassay.grading.in_place.support import TEST_FOLDERS as TEST_FOLDERS, setup_of as setup_of
    from repoassay.grading.metrics.documents import read_pdf as read_pdf
    from repoassay.grading.metrics.neighbours import (
        steepness as steepness,
        structural_similarity as structural_similarity,
    )
    from repoassay.grading.metrics.opening import (
        content as content,
        mapped as mapped,
        need as need,
        reference as reference,
        workbook as workbook,
    )
    from repoassay.grading.metrics.rasters import mean_square as mean_square, pixels as pixels, raster as raster
    from repoassay.grading.metrics.text import normal as normal
    from repoassay.grading.oracle.javascript_alteration import count_tests as count_tests
    from repoassay.grading.oracle.javascript_tree import parse_javascript as parse_javascript, walk as walk
    from repoassay.grading.oracle.oracle import Oracle as Oracle
    from repoassay.grading.oracle.reference import Reference as Reference
    from repoassay.grading.oracle.sites import SiteMode as SiteMode
    from repoassay.grading.outcome import (
        fault as fault,
        judge as judge,
        name_isolation as name_isolation,
        no_task as no_task,
        not_gradable as not_gradable,
        with_ending as with_ending,
    )
    from repoassay.grading.preflight import check_packages as check_packages
    from repoassay.grading.preview import (
        FILE as FILE,
        MOST_CELL as MOST_CELL,
        MOST_CELLS as MOST_CELLS,
        MOST_COLUMNS as MOST_COLUMNS,
        MOST_PICTURES as MOST_PICTURES,
        MOST_ROWS as MOST_ROWS,
        MOST_SIDE as MOST_SIDE,
        MOST_TEXT as MOST_TEXT,
        PLACE as PLACE,
    )
    from repoassay.grading.protocol import (
        Measurement as Measurement,
        Metric as Metric,
        NotGradable as NotGradable,
        UnreadableOutput as UnreadableOutput,
    )
    from repoassay.grading.pull_request import (
        COMMITS as COMMITS,
        DESCRIPTION_FILE as DESCRIPTION_FILE,
        PULL_DIFF as PULL_DIFF,
        PullRequest as PullRequest,
        diff_name as diff_name,
        head_tree as head_tree,
        read_pull_request as read_pull_request,
        reference_pull_request as reference_pull_request,
    )
    from repoassay.grading.registry import all_metrics as all_metrics, get as get, metric as metric, names as names
    from repoassay.grading.sandboxed_module import hit_limit as hit_limit, run_sandboxed as run_sandboxed
    from repoassay.grading.step_verdicts import (
        ends_with as ends_with,
        join_verdicts as join_verdicts,
        unbegun as unbegun,
    )
    from repoassay.grading.test_run import (
        ENOUGH as ENOUGH,
        HiddenTestExamination as HiddenTestExamination,
        HiddenTestSubject as HiddenTestSubject,
        examine as examine,
    )
else:
    __getattr__, __dir__ = attach(__name__)
