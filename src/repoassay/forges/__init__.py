"""Pull requests of GitHub and GitLab as items of a study, and what people said of them as reviews of the forge.

Knows review and formats of files; not the command line or pages. Everything that an export holds is hostile text.
Read: `pull`, `json_fields`, `diff_parts`, `github_pull`, `gitlab_pull`, `export_file`. Items: `pull_items`. Back:
`review_body`.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.forges.export_file import ExportRead as ExportRead, read_export as read_export
    from repoassay.forges.pull import ForgePull as ForgePull
    from repoassay.forges.pull_items import items_of_pulls as items_of_pulls
    from repoassay.forges.review_body import GithubReview as GithubReview, github_review as github_review
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "export_file": ("ExportRead", "read_export"),
            "pull": ("ForgePull",),
            "pull_items": ("items_of_pulls",),
            "review_body": ("GithubReview", "github_review"),
        },
    )
