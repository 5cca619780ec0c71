"""Pull requests of GitHub and GitLab as items of a study, and what people said of them as reviews of the forge.

Knows review and formats of files; not the command line or pages. Everything that an export holds is hostile text.
Read: `pull`, `json_fields`, `diff_parts`, `github_pull`, `gitlab_pull`, `export_file`.
From the API: `forge_client`, `forge_pulls`. Items: `pull_prose`, `outcomes`,
`base_repository`, `pull_items`. Back:
`review_text`, `github_review`, `gitlab_review`, `review_request`,
`posting`.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.forges.base_repository import (
        landed_commits as landed_commits,
        lay_files_before as lay_files_before,
        opened_clone as opened_clone,
    )
    from repoassay.forges.export_file import (
        ExportRead as ExportRead,
        read_export as read_export,
        read_objects as read_objects,
    )
    from repoassay.forges.forge_client import (
        ForgeAddress as ForgeAddress,
        ForgeClient as ForgeClient,
        forge_address as forge_address,
    )
    from repoassay.forges.forge_pulls import (
        PullQuery as PullQuery,
        fetch_issue as fetch_issue,
        fetch_pulls as fetch_pulls,
    )
    from repoassay.forges.outcomes import (
        LandedCommit as LandedCommit,
        PullOutcome as PullOutcome,
        outcomes_of_pulls as outcomes_of_pulls,
    )
    from repoassay.forges.posting import PostState as PostState, plan_posts as plan_posts, post_planned as post_planned
    from repoassay.forges.pull_items import items_of_pulls as items_of_pulls
    from repoassay.forges.review_request import (
        ReviewRequest as ReviewRequest,
        forge_items as forge_items,
        review_requests as review_requests,
    )
else:
    __getattr__, __dir__ = attach(__name__)
