"""Agreement of raters: coefficients, their intervals, and what follows for the truth.

Every coefficient is a `Figure` that says why it is undefined, rather than NaN, where all ratings are the same.
"""

from __future__ import annotations

from repoassay.stats.agreement.cohen import cohen_kappa
from repoassay.stats.agreement.dawid_skene import DawidSkene, dawid_skene
from repoassay.stats.agreement.fleiss import fleiss_kappa
from repoassay.stats.agreement.gwet import gwet_ac1, gwet_ac2
from repoassay.stats.agreement.krippendorff import Scale, krippendorff_alpha
from repoassay.stats.agreement.leave_one_out import LeaveOneOut, leave_one_out
from repoassay.stats.agreement.over_units import agreement_interval
from repoassay.stats.agreement.percent import percent_agreement
from repoassay.stats.agreement.ratings import Ratings
from repoassay.stats.agreement.weights import Weights

__all__ = [
    "DawidSkene",
    "LeaveOneOut",
    "Ratings",
    "Scale",
    "Weights",
    "agreement_interval",
    "cohen_kappa",
    "dawid_skene",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "krippendorff_alpha",
    "leave_one_out",
    "percent_agreement",
]
