# Everything from a bare clone with only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python keeps what it has compiled, also where the environment says otherwise: the tests start hundreds of interpreters.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: test lint types tests mutants slow neighbours lowest peers demo web docs docs-serve docs-pages screenshots bench bench-compare bench-server bench-collector \
	clean

test: lint types tests

# uv installs in seconds where it is there; pip does the same elsewhere, and where uv does not trust the certificates.
UV := $(shell command -v uv 2>/dev/null)
pip = $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(1)]'
install = $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python -e '.[$(1)]' ||) $(pip)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(call install,dev)
	touch $@

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(call install,cli)
	touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(call install,docs)
	touch $@

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

tests: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not slow and not peers' $(ARGS)

# Some minutes each: every table broken in every small way, which the searches must notice; and the slow tests.
mutants: $(VENV)/.installed
	$(BIN)/python tests/mutations.py

slow: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow $(ARGS)

# Environments of their own, with other people's packages. Needs a network; LIVETOOLS_PEERS keeps them for the next run.
neighbours: $(VENV)/.installed
	$(BIN)/python -m pytest -m peers tests/test_neighbours.py $(ARGS)

lowest: $(VENV)/.installed
	$(BIN)/python -m pytest -m peers tests/test_lowest_versions.py $(ARGS)

peers: $(VENV)/.installed
	$(BIN)/python -m pytest -m peers tests/testing/test_peers.py tests/examples/test_ray_serve.py $(ARGS)

demo: $(VENV)/.demo
	$(BIN)/livetools chat examples/text_agent.py

# The client of a page: its types from the Python classes, its modules from its TypeScript. Needs npm.
web: $(VENV)/.installed
	$(BIN)/python -m livetools.integrations.relay.typescript > livetools/web/src/messages.ts
	cd livetools/web && npm ci --silent && npm run --silent build

# The documentation, into site/; a warning (a link, an anchor, a name that is not there) is an error.
docs: $(VENV)/.docs
	$(BIN)/zensical build --clean --strict
	$(BIN)/python docs/generate.py site

docs-serve: $(VENV)/.docs
	$(BIN)/zensical serve

# The pages and tables of the documentation that are made from the code.
docs-pages: $(VENV)/.installed
	$(BIN)/python docs/generate.py

screenshots: $(VENV)/.installed
	$(BIN)/python docs/screenshots.py

# What it costs, beside the bare minimum and what else one might use; see bench/README.md. Under ten minutes on two cores.
bench: $(VENV)/.installed
	$(BIN)/python bench/run.py $(ARGS)

# Which operations take more instructions than at another revision: make bench-compare BASE=main. Needs valgrind.
bench-compare: $(VENV)/.installed
	$(BIN)/python bench/compare.py $(BASE)

# How many sessions the fake server keeps on one core.
bench-server: $(VENV)/.installed
	$(BIN)/python bench/fake_server.py

# How long the garbage collector stops a process with hundreds of sessions, and what gc.freeze() brings.
bench-collector: $(VENV)/.installed
	$(BIN)/python bench/collector.py $(ARGS)

clean:
	rm -rf $(VENV) .cache site .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
