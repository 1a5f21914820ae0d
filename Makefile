# Monjyu. `make` alone lists what there is; every target sets up what it needs.

PYTHON ?= python3
PORT ?= 3000
PAGE ?= 8000
RUNS ?= 3

ifeq ($(origin PAPERS),undefined)
PAPERS := data/samples/papers
COLLECTION ?= samples
QUESTION ?= How is a sentence of an answer traced back to its source?
endif
export PAPERS COLLECTION QUESTION

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
PACKAGES := monjyu_core monjyu_assets monjyu_query

LOCK_OPTIONS := --extra ja --extra ocr --extra otel --extra postgres --group dev --universal --python-version 3.11 --quiet --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links

.DEFAULT_GOAL := help
.PHONY: help setup demo up test slow check bench lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  Variables: PYTHON=$(PYTHON); demo: PAPERS=folder COLLECTION=name QUESTION='...'; up: PORT=$(PORT) PAGE=$(PAGE); bench: RUNS=$(RUNS)"

setup: $(INSTALLED) ## Install the packages of requirements.lock into .venv (the other targets do it by themselves)

# uv is quicker; pip does the same where uv cannot be had or finds no index (it reads none of pip's configuration).
$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "Monjyu needs Python 3.11 or newer, and '$(PYTHON)' is none: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "'$(PYTHON)' comes without venv. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		$(PYTHON) -m venv --clear $(VENV)
	@echo "Installing the packages of requirements.lock into $(VENV) ..."
	@$(PIP) install "$$(grep '^uv==' requirements.lock)" || true
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode -r requirements.lock || \
		{ echo "uv could not; trying pip ..."; $(PIP) install -r requirements.lock; }
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q $(PACKAGES)
	@touch $@

demo: $(INSTALLED) ## Index a folder of papers and ask it a question (PAPERS=folder for your own)
	@set -e; \
	name=$${COLLECTION:-$$($(BIN)/python -c 'import pathlib, sys; from monjyu_core import ids; \
		print(ids.collection_name_for(pathlib.Path(sys.argv[1])))' "$$PAPERS")}; \
	echo "> monjyu index $$PAPERS -c $$name"; \
	$(BIN)/monjyu index "$$PAPERS" -c "$$name" || [ $$? -eq 1 ]; \
	question=$${QUESTION:-$$($(BIN)/monjyu papers list -c "$$name" --json | $(BIN)/python -c 'import json, sys; \
		print(next(("What is " + p["title"].rstrip(".?") + "?" for p in json.load(sys.stdin) if p["title"]), "What is this about?"))')}; \
	echo; echo "> monjyu search \"$$question\" -c $$name --top-k 5"; \
	$(BIN)/monjyu search "$$question" -c "$$name" --top-k 5; \
	echo; echo "Ask more:             $(BIN)/monjyu search \"your question\" -c $$name"; \
	echo "Open the page:        make up, then http://127.0.0.1:$(PAGE)"; \
	echo "Open the Dagster UI:  make up, then http://127.0.0.1:$(PORT)"

up: $(INSTALLED) ## Start the page (PAGE=8000) and the Dagster UI with its daemon (PORT=3000); Ctrl-C stops all
	@exec $(BIN)/monjyu up --port $(PORT) --page-port $(PAGE)

check: $(INSTALLED) ## Lint, format, types, unused dependencies, dead code
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/deptry .
	@found=$$($(BIN)/vulture) || [ $$? -eq 3 ] || exit 1; \
	! printf '%s' "$$found" | grep -vE "unused (variable|attribute) .*\(60%"

# A third worker has the two cores while the others wait (for daemons, servers, timeouts). tests/conftest.py orders the files.
test: check ## The checks, then all tests but the slow ones
	@$(BIN)/python -m pytest -q -m "not slow" -n 3 --dist loadfile --no-loadscope-reorder

slow: $(INSTALLED) ## The slow tests: kills, soak, daemons, whole corpora
	@$(BIN)/python -m pytest -q -m slow -n 3 --dist loadfile --no-loadscope-reorder

bench: $(INSTALLED) ## Time, memory and quality, medians of RUNS runs
	@$(BIN)/python bench/run.py --runs $(RUNS)

lock: $(INSTALLED) ## Write requirements.lock anew with the newest versions that pyproject.toml allows
	@$(BIN)/uv pip compile pyproject.toml --upgrade $(LOCK_OPTIONS) --output-file requirements.lock

clean: ## Remove .venv, caches and build results; data/ stays
	@rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	@find $(PACKAGES) tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
