# Monjyu. `make` alone lists what there is; every target sets up what it needs.

PYTHON ?= python3
PORT ?= 3000
RUNS ?= 3

ifeq ($(origin PAPERS),undefined)
PAPERS := data/samples/papers
COLLECTION ?= samples
QUESTION ?= How does a citation graph help retrieval?
endif
QUESTION ?= Which methods are used and what do the results show?
export PAPERS COLLECTION QUESTION

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
PACKAGES := monjyu_core monjyu_assets monjyu_query

LOCK_OPTIONS := --group dev --universal --python-version 3.11 --quiet --no-header --no-annotate --no-emit-index-url --no-emit-find-links

.DEFAULT_GOAL := help
.PHONY: help setup demo up test check bench lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  Variables: PYTHON=$(PYTHON)  PAPERS=folder COLLECTION=name QUESTION='...' (demo)  PORT=$(PORT) (up)  RUNS=$(RUNS) (bench)"

setup: $(INSTALLED) ## Create .venv with the packages of requirements.lock (done again only when that file or pyproject.toml changed)

# uv is quicker, and pip does the same where uv cannot be had (it knows nothing of pip's own configuration, for one).
$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "Monjyu needs Python 3.11 or newer; '$(PYTHON)' is none. Name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "'$(PYTHON)' comes without venv. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep '^uv==' requirements.lock)" || true
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode -r requirements.lock || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q $(PACKAGES)
	@touch $@

demo: $(INSTALLED) ## Index a folder of papers and ask it a question (PAPERS=folder for your own)
	@set -e; name=$${COLLECTION:-$$($(BIN)/python -c 'import os, pathlib; from monjyu_core import ids; \
		print(ids.collection_name_for(pathlib.Path(os.environ["PAPERS"])))')}; \
	echo "> monjyu index $$PAPERS -c $$name"; \
	$(BIN)/monjyu index "$$PAPERS" -c "$$name"; \
	echo; echo "> monjyu search \"$$QUESTION\" -c $$name"; \
	$(BIN)/monjyu search "$$QUESTION" -c "$$name"; \
	echo; echo "Ask more:             $(BIN)/monjyu search \"your question\" -c $$name"; \
	echo "Open the Dagster UI:  make up"

up: $(INSTALLED) ## Create .venv with the packages of requirements.lock (done again only when that file or pyproject.toml changed)

# uv is quicker, and pip does the same where uv cannot be had (it knows nothing of pip's own configuration, for one).
$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "Monjyu needs Python 3.11 or newer; '$(PYTHON)' is none. Name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "'$(PYTHON)' comes without venv. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep '^uv==' requirements.lock)" || true
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode -r requirements.lock || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q $(PACKAGES)
	@touch $@

demo: $(INSTALLED) ## Index a folder of papers and ask it a question (PAPERS=folder for your own)
	@set -e; name="$(COLLECTION)"; \
	[ -n "$$name" ] || name=$$($(BIN)/python -c 'import sys, pathlib, monjyu_core.ids as ids; print(ids.collection_name_for(pathlib.Path(sys.argv[1])))' "$(PAPERS)"); \
	echo "> monjyu index $(PAPERS) -c $$name"; \
	$(BIN)/monjyu index "$(PAPERS)" -c "$$name"; \
	echo; echo "> monjyu search \"$(QUESTION)\" -c $$name"; \
	$(BIN)/monjyu search "$(QUESTION)" -c "$$name"; \
	echo; echo "Ask more:  $(BIN)/monjyu search \"your question\" -c $$name"; \
	echo "Open the Dagster UI:  make up"

up: $(INSTALLED) ## Start the Dagster UI and its daemon (PORT=3000); Ctrl-C stops both
	@exec $(BIN)/python -m monjyu_assets.up --port $(PORT)

check: $(INSTALLED) ## Lint, format, types, dead code, dependencies
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/deptry .
	@found=$$($(BIN)/vulture) || [ $$? -eq 3 ] || exit 1; \
	! printf '%s' "$$found" | grep -vE "unused (variable|attribute) .*\(60%"

test: check ## The checks, then all tests
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile

bench: $(INSTALLED) ## Time and quality, medians of RUNS runs
	@$(BIN)/python bench/run.py --runs $(RUNS)

lock: $(INSTALLED) ## Choose the newest versions that pyproject.toml allows and write requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --upgrade $(LOCK_OPTIONS) --output-file requirements.lock

clean: ## Remove .venv, caches and build results; data/ stays
	@rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	@find $(PACKAGES) tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
