"""Tasks and suites on disk: `task.toml`, its files, suite folders; reading, checking and digests.

Knows types and, of records, how a file is read safely; not how a task is run. Suites of other packages and the bundled
ones come through `repoassay.plugins`.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.tasks.bundled import (
        bundled_suite as bundled_suite,
        bundled_suites as bundled_suites,
        named_suites as named_suites,
    )
    from repoassay.tasks.changed_files import (
        changed_tasks as changed_tasks,
        is_task_folder as is_task_folder,
        task_above as task_above,
    )
    from repoassay.tasks.contents import (
        read_regular as read_regular,
        real_folder as real_folder,
        scan as scan,
        unreadable as unreadable,
    )
    from repoassay.tasks.digest import digest_folder as digest_folder
    from repoassay.tasks.folder import Elsewhere as Elsewhere, TaskFolder as TaskFolder, step_place as step_place
    from repoassay.tasks.linter import Advice as Advice, lint as lint
    from repoassay.tasks.read import read_task as read_task, task_from_toml as task_from_toml
    from repoassay.tasks.steps import (
        SETUP as SETUP,
        refuse_steps as refuse_steps,
        step_files as step_files,
        step_folders as step_folders,
    )
    from repoassay.tasks.suite import SuiteFolder as SuiteFolder, find_suite as find_suite
    from repoassay.tasks.suite_data import take_data as take_data
    from repoassay.tasks.suite_lint import lint_suite as lint_suite
    from repoassay.tasks.suite_location import Located as Located, locate as locate
    from repoassay.tasks.suite_manifest import (
        DataFile as DataFile,
        DataState as DataState,
        Manifest as Manifest,
        data_folder as data_folder,
    )
    from repoassay.tasks.toml import parse_toml as parse_toml
else:
    __getattr__, __dir__ = attach(__name__)
