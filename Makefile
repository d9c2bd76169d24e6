# Two commands do everything: `make demo` and `make test`. Needs Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INTEROP := .venv-interop
SHARED ?= ../shared
# Twice as many as most machines here have processors: a third of the tests' time is waiting for other processes.
WORKERS ?= 4
# A registry may be slow, or fail now and then, whoever installs: we, or a test.
export PIP_RETRIES ?= 10
export PIP_DEFAULT_TIMEOUT ?= 60
export npm_config_fetch_retries ?= 10
# Compiled modules are kept also where the environment says otherwise: the tests start Python thousands of times.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo test pythons mutants fuzz lint types imports agents more-agents browser scale corpus interop bench clean

help:
	@echo "make demo    set up and run the demo: a recorded workflow, watched live"
	@echo "make test    set up, then lint, types, import rules and the hermetic tests"
	@echo "make pythons the same tests on every Python from 3.11 that is found"
	@echo "make mutants breaks the code in 300 places and says which breaks the tests notice"
	@echo "make fuzz    the property tests with a random seed and twenty times the examples"
	@echo "make agents  the tests that run real agent programs"
	@echo "make browser the long tests in a real browser"
	@echo "make scale   the long tests: many kills, large inputs, real engines and stores"
	@echo "make more-agents  further agent programs and frameworks"
	@echo "make corpus  the checks over $(SHARED), when it is there"
	@echo "make interop exports and evidence, read and checked by programs that are not ours"
	@echo "make bench   measure, and write the table of docs/benchmarks.md"

demo: $(VENV)/.installed
	$(BIN)/steno demo

test: lint types imports $(VENV)/.developing
	@tools/ensure jq strace chromium
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

pythons: $(VENV)/.developing
	@tools/ensure jq strace chromium
	$(BIN)/python tools/pythons

mutants: $(VENV)/.developing
	$(BIN)/python tools/mutants

fuzz: $(VENV)/.developing
	$(BIN)/pytest -n 2 --dist worksteal --timeout 3600 --hypothesis-profile=fuzz -m "hypothesis and not agents and not corpus and not browser and not scale and not more_agents"

lint: $(VENV)/.developing
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .

types: $(VENV)/.developing
	$(BIN)/mypy

imports: $(VENV)/.developing
	$(BIN)/lint-imports --no-logo

agents: $(VENV)/.developing
	@tools/ensure npm
	@tools/run-tests agents "no test here needs a real agent program yet" -n 2 --dist loadfile

browser: $(VENV)/.developing
	@tools/ensure chromium
	@tools/run-tests browser "no long browser test yet" -n 2 --dist worksteal

scale: $(VENV)/.engines
	@tools/run-tests scale "no test of scale yet" -n 2 --dist worksteal

more-agents: $(VENV)/.developing
	@tools/ensure npm
	@tools/run-tests more_agents "no test of further agents yet" -n 2 --dist loadgroup

corpus: $(VENV)/.developing
	@if [ -d "$(SHARED)" ]; then SHARED="$$(realpath "$(SHARED)")" tools/run-tests corpus "no check over $(SHARED) yet"; \
	else echo "make corpus: $(SHARED) is not here, nothing to check"; fi

interop: $(VENV)/.developing $(INTEROP)/.installed $(INTEROP)/receivers/.installed
	$(BIN)/python tools/interop $(BIN)/python $(INTEROP)/bin/python
	$(BIN)/python tools/interop-receivers $(INTEROP)/receivers/bin/python
	$(BIN)/python tools/interop-evidence $(BIN)/python $(INTEROP)/evidence

bench: $(VENV)/.developing
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) $(VENV)-pythons $(INTEROP) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: $(PYTHON) is older than 3.11; say which to use: make PYTHON=python3.12 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Harbor wants a newer Python and half of the world; its validator and its converter of Claude sessions need neither. TRL's templates need no model.
$(INTEROP)/.installed: Makefile
	$(PYTHON) -m venv $(INTEROP)
	$(INTEROP)/bin/pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python harbor trl
	$(INTEROP)/bin/pip install --quiet --disable-pip-version-check ag-ui-protocol anthropic datasets duckdb inspect-ai \
	  inspect-scout jinja2 opentelemetry-proto pydantic teich toml transformers
	@tools/ensure npm
	npm install --silent --no-audit --no-fund --no-package-lock --prefix $(INTEROP)/node @ag-ui/client rxjs
	@touch $@

# Servers that traces are sent to. Phoenix has the Elastic licence: a receiver in a test, never a dependency.
$(INTEROP)/receivers/.installed: Makefile
	$(PYTHON) -m venv $(INTEROP)/receivers
	$(INTEROP)/receivers/bin/pip install --quiet --disable-pip-version-check arize-phoenix mlflow
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.developing: $(VENV)/.made pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.engines: $(VENV)/.developing
	@tools/ensure java:default-jre-headless
	$(BIN)/pip install --quiet --disable-pip-version-check chdb distributed pyspark ray
	@touch $@
