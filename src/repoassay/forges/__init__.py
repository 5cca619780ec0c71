"""Pull requests of GitHub and GitLab as items of a study, and what people said of them as reviews of the forge.

Knows review and formats of files; not the command line or pages. Everything that an export holds is hostile text.
Read: `pull`, `json_fields`, `diff_parts`, `github_pull`, `gitlab_pull`, `export_file`. Items: `pull_items`. Back:
`review_text`, `github_review`, `gitlab_review`, `review_request`.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.forges.export_file import ExportRead as ExportRead, read_export as read_export
    from repoassay.forges.pull import ForgePull as ForgePull
    from repoassay.forges.pull_items import items_of_pulls as items_of_pulls
    from repoassay.forges.review_request import ReviewRequest as ReviewRequest, review_requests as review_requests
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "export_file": ("ExportRead", "read_export"),
            "pull": ("ForgePull",),
            "pull_items": ("items_of_pulls",),
            "review_request": ("ReviewRequest", "review_requests"),
        },
    )
