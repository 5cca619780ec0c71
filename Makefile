# Six words. Each sets up what it needs: Python 3.11 or newer, git and make are enough to start.
# Beside them, three for who has time.
.PHONY: demo test test-all coverage test-agents check fix docs bench help
.DEFAULT_GOAL := help

PYTHON ?= $(shell command -v python3.11 || command -v python3)
# uv: the one on the path, else one of our own in .uv, which pip fetches once.
UV := $(shell command -v uv || echo .uv/bin/uv)
RUN := $(UV) run --frozen
# Hundreds of short processes start below; where bytecode may not be kept, each would compile all it imports.
export PYTHONDONTWRITEBYTECODE :=

help:
	@echo "make demo   run the starter suite with the reference agent and write an HTML report"
	@echo "make test   run the tests"
	@echo "make test-all  run also what the quick tests only sample; needs some minutes more"
	@echo "make test-agents  run real agents from their registries by a scripted model"
	@echo "make coverage   what the quick tests reach"
	@echo "make check  lint, types, import order, and that no figure of the code got worse"
	@echo "make fix    format and repair what can be repaired"
	@echo "make docs   build the documentation into site/"
	@echo "make bench  print start-up and grading speed as ratios"

.uv/bin/uv:
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --target .uv uv

# One environment for everything but the documentation, which brings many packages of its own.
.venv/.ready: pyproject.toml uv.lock | $(filter .uv/bin/uv,$(UV))
	$(UV) sync --quiet --frozen --python $(PYTHON) --extra gittaskbench --extra weights --extra postgres --extra agents --extra stats --extra plots --extra review --extra signals --group test --group lint --group typing
	@touch $@

# The demo needs no development tools, so its environment is made in a few seconds.
.venv/.demo: pyproject.toml uv.lock | $(filter .uv/bin/uv,$(UV))
	@test -e .venv/.ready || $(UV) sync --quiet --frozen --inexact --python $(PYTHON) --extra metrics --no-default-groups
	@touch $@

demo: .venv/.demo
	.venv/bin/repoassay run starter --agent reference

test: .venv/.ready
	.venv/bin/pytest tests -q
	.venv/bin/pytest -q --dist=loadfile -p no:randomly README.md docs

# What the quick tests reach; watching it makes them half as slow again.
coverage: .venv/.ready
	.venv/bin/coverage erase
	.venv/bin/coverage run -m pytest tests -q
	.venv/bin/coverage combine -q
	.venv/bin/coverage report --format=total --skip-empty | sed 's/^/coverage: /; s/$$/ %/'

test-all: test
	.venv/bin/pytest tests -q -m exhaustive

# Installs agents from their registries first; AGENTS=mini-swe-agent,codex chooses some.
AGENTS ?= all
test-agents: .venv/.ready
	REPOASSAY_TEST_AGENTS=$(AGENTS) .venv/bin/pytest -q -n 0 tests/engine/test_real_agents.py

check: .venv/.ready
	.venv/bin/ruff format --check
	.venv/bin/ruff check
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/python scripts/house_stats.py --check

fix: .venv/.ready
	.venv/bin/ruff format
	.venv/bin/ruff check --fix

docs: | $(filter .uv/bin/uv,$(UV))
	$(RUN) --isolated --group docs --no-default-groups --python $(PYTHON) mkdocs build --strict --quiet

bench: .venv/.ready
	.venv/bin/python measurements/startup.py
	.venv/bin/python measurements/workspace.py
	.venv/bin/python measurements/verdicts.py
	.venv/bin/python measurements/survey.py
	.venv/bin/python measurements/gittaskbench.py
	.venv/bin/python measurements/submissions.py
	PYTHONPATH=tests .venv/bin/python measurements/model_proxy.py
	.venv/bin/python measurements/matrix_kill.py
	.venv/bin/python measurements/report.py
