"""What a repository or a suite is made of: counts, shares and market values.

Only reads and counts. Must not run anything, unpack anything or know of agents and verdicts.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.survey.measures import (
        DEFINITIONS as DEFINITIONS,
        TOKENISER as TOKENISER,
        Measures as Measures,
        SurveyProblem as SurveyProblem,
    )
    from repoassay.survey.model_tokens import (
        MODEL_TOKENISER as MODEL_TOKENISER,
        model_token_counter as model_token_counter,
    )
    from repoassay.survey.repository import Survey as Survey, survey_repository as survey_repository
    from repoassay.survey.suite import (
        Composition as Composition,
        Share as Share,
        SuiteWorth as SuiteWorth,
        survey_suite as survey_suite,
    )
    from repoassay.survey.test_files import is_test as is_test, is_test_support as is_test_support
else:
    __getattr__, __dir__ = attach(__name__)
