"""Statistics of benchmark results: pure functions and frozen values.

Knows nothing of tasks, agents or files: it is given counts, scores, ratings, or truth values that may be unknown. Every
result says by what method it was got and from how many, and, where there is none, why. All but Fisher's test and
correlations (`MissingExtra` without scipy, the extra `stats`) is the standard library alone.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.stats.agreement.cohen import cohen_kappa as cohen_kappa
    from repoassay.stats.agreement.dawid_skene import DawidSkene as DawidSkene, dawid_skene as dawid_skene
    from repoassay.stats.agreement.fleiss import fleiss_kappa as fleiss_kappa
    from repoassay.stats.agreement.gwet import gwet_ac1 as gwet_ac1, gwet_ac2 as gwet_ac2
    from repoassay.stats.agreement.krippendorff import krippendorff_alpha as krippendorff_alpha
    from repoassay.stats.agreement.leave_one_out import LeaveOneOut as LeaveOneOut, leave_one_out as leave_one_out
    from repoassay.stats.agreement.over_tasks import agreement_by_task as agreement_by_task
    from repoassay.stats.agreement.over_units import agreement_interval as agreement_interval
    from repoassay.stats.agreement.percent import percent_agreement as percent_agreement
    from repoassay.stats.agreement.ratings import Ratings as Ratings
    from repoassay.stats.bootstrap import bootstrap_mean as bootstrap_mean, bootstrap_proportion as bootstrap_proportion
    from repoassay.stats.clustered import ClusteredMean as ClusteredMean, clustered_mean as clustered_mean
    from repoassay.stats.consistency import (
        PrintedRate as PrintedRate,
        consistent as consistent,
        smallest_fraction as smallest_fraction,
    )
    from repoassay.stats.corrected import golden_normalised as golden_normalised, rogan_gladen as rogan_gladen
    from repoassay.stats.correlation import kendall as kendall, pearson as pearson, spearman as spearman
    from repoassay.stats.figure import Figure as Figure, Significance as Significance
    from repoassay.stats.intervals import (
        Interval as Interval,
        clopper_pearson as clopper_pearson,
        clopper_pearson_upper as clopper_pearson_upper,
        wilson as wilson,
    )
    from repoassay.stats.kish import effective_number as effective_number, effective_raters as effective_raters
    from repoassay.stats.mixed_logistic import MixedLogistic as MixedLogistic, fit_mixed_logistic as fit_mixed_logistic
    from repoassay.stats.p_values import SMALLEST_P as SMALLEST_P, holm as holm, p_text as p_text
    from repoassay.stats.paired import (
        agresti_min as agresti_min,
        discordant_needed as discordant_needed,
        mcnemar as mcnemar,
        paired_wald as paired_wald,
        tango as tango,
    )
    from repoassay.stats.permutation import (
        paired_permutation as paired_permutation,
        two_sample_permutation as two_sample_permutation,
    )
    from repoassay.stats.power import (
        mcnemar_power as mcnemar_power,
        smallest_difference as smallest_difference,
        tasks_needed as tasks_needed,
        tasks_needed_independent as tasks_needed_independent,
        tasks_needed_score as tasks_needed_score,
    )
    from repoassay.stats.prediction_powered_inference import (
        PredictionPowered as PredictionPowered,
        prediction_powered as prediction_powered,
    )
    from repoassay.stats.rates import Proportion as Proportion, Rate as Rate, TaskProportion as TaskProportion
    from repoassay.stats.repeated_attempts import PassAtK as PassAtK, pass_at_k as pass_at_k, pass_hat_k as pass_hat_k
    from repoassay.stats.skewed_means import skewed_mean as skewed_mean
    from repoassay.stats.tables import fisher as fisher
    from repoassay.stats.task_intervals import (
        clustered_counts as clustered_counts,
        clustered_difference as clustered_difference,
        clustered_proportion as clustered_proportion,
        clustered_shares as clustered_shares,
        clustered_test as clustered_test,
    )
else:
    __getattr__, __dir__ = attach(__name__)
