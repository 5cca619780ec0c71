"""Judges: models that rate as one more rater, outside the majority of people, and how far they may be believed.

What a judge is: `families`, `definition`. The messages sent to it: `diff_lines`, `prompt`, `injection`.
Its replies: `answer`, `judgement`. How it is asked, through the model proxy: `client`, `sample`, `judging`. Where its
ratings are kept: `store`. What follows from them: `votes`, and compared with people `dev_test_split`,
`axis_figures`, `judged_systems`, `mergeable_rate`, `bias_checks`, `substitute`, `calibration`. Knows review, signals,
statistics and the model proxy; not run folders or pages.
"""

from __future__ import annotations

from repoassay.errors import MissingExtra
from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.judges.axis_figures import JudgeAxisFigures as JudgeAxisFigures, MeasuredAxis as MeasuredAxis
    from repoassay.judges.calibration import (
        Calibration as Calibration,
        calibrate as calibrate,
        state_of_study as state_of_study,
    )
    from repoassay.judges.client import (
        OpenModel as OpenModel,
        open_judge as open_judge,
        spent_before as spent_before,
    )
    from repoassay.judges.definition import Definition as Definition, Parameters as Parameters
    from repoassay.judges.dev_test_split import DevTestSplit as DevTestSplit
    from repoassay.judges.injection import hidden_text as hidden_text
    from repoassay.judges.judged_systems import CalibrationState as CalibrationState
    from repoassay.judges.judging import (
        JudgingResult as JudgingResult,
        JudgingStep as JudgingStep,
        judge_study as judge_study,
    )
    from repoassay.judges.mergeable_rate import MergeableRate as MergeableRate
    from repoassay.judges.prompt import bundled_templates as bundled_templates, own_templates as own_templates
    from repoassay.judges.store import (
        JudgeRecord as JudgeRecord,
        find_judge as find_judge,
        judgements_of as judgements_of,
        note_look as note_look,
        seat as seat,
    )
    from repoassay.judges.substitute import FLOOR as FLOOR
else:
    __getattr__, __dir__ = attach(__name__, lacking=lambda package: MissingExtra(package, "review"))
