"""Leave every expected file, empty; in a repository, leave an empty module."""

import json
import sys
from pathlib import Path

facts = json.load(sys.stdin)
if facts["edit"]:
    Path(facts["repository"], "empty_module.py").touch()
for name in facts["outputs"]:
    target = Path("/workspace/output") / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch()
