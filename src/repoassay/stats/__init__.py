"""Statistics of benchmark results: pure functions and frozen values.

Knows nothing of tasks, agents or files: it is given counts, scores, ratings, or truth values that may be unknown. Every
result says by what method it was got and from how many, and, where there is none, why. All but Fisher's test and
correlations (`MissingExtra` without scipy, the extra `stats`) is the standard library alone.
"""

from __future__ import annotations

from repoassay.stats.agreement import (
    DawidSkene,
    LeaveOneOut,
    Ratings,
    agreement_interval,
    cohen_kappa,
    dawid_skene,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    leave_one_out,
    percent_agreement,
)
from repoassay.stats.bootstrap import bootstrap_mean, bootstrap_proportion
from repoassay.stats.clustered import ClusteredMean, clustered_mean
from repoassay.stats.consistency import PrintedRate, consistent, smallest_fraction
from repoassay.stats.corrected import golden_normalised, rogan_gladen
from repoassay.stats.correlation import kendall, pearson, spearman
from repoassay.stats.figure import Figure, Significance
from repoassay.stats.holm import HOLM, holm
from repoassay.stats.intervals import Interval, clopper_pearson, clopper_pearson_upper, wilson
from repoassay.stats.kish import effective_number, effective_raters
from repoassay.stats.paired import agresti_min, discordant_needed, mcnemar, paired_wald, tango
from repoassay.stats.pass_at_k import PassAtK, pass_at_k, pass_hat_k
from repoassay.stats.permutation import paired_permutation
from repoassay.stats.power import (
    mcnemar_power,
    smallest_difference,
    tasks_needed,
    tasks_needed_independent,
    tasks_needed_score,
)
from repoassay.stats.prediction_powered import PredictionPowered, prediction_powered
from repoassay.stats.rates import Proportion, Rate
from repoassay.stats.tables import fisher

__all__ = [
    "HOLM",
    "ClusteredMean",
    "DawidSkene",
    "Figure",
    "Interval",
    "LeaveOneOut",
    "PassAtK",
    "PredictionPowered",
    "PrintedRate",
    "Proportion",
    "Rate",
    "Ratings",
    "Significance",
    "agreement_interval",
    "agresti_min",
    "bootstrap_mean",
    "bootstrap_proportion",
    "clopper_pearson",
    "clopper_pearson_upper",
    "clustered_mean",
    "cohen_kappa",
    "consistent",
    "dawid_skene",
    "discordant_needed",
    "effective_number",
    "effective_raters",
    "fisher",
    "fleiss_kappa",
    "golden_normalised",
    "gwet_ac1",
    "gwet_ac2",
    "holm",
    "kendall",
    "krippendorff_alpha",
    "leave_one_out",
    "mcnemar",
    "mcnemar_power",
    "paired_permutation",
    "paired_wald",
    "pass_at_k",
    "pass_hat_k",
    "pearson",
    "percent_agreement",
    "prediction_powered",
    "rogan_gladen",
    "smallest_difference",
    "smallest_fraction",
    "spearman",
    "tango",
    "tasks_needed",
    "tasks_needed_independent",
    "tasks_needed_score",
    "wilson",
]
