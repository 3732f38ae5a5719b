# Everything from a bare clone with only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: test lint types tests demo web bench clean

test: lint types tests

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

tests: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto -m 'not slow and not peers'

demo: $(VENV)/.installed
	$(BIN)/livetools chat examples/text_agent.py

# The client of a page: its types from the Python classes, its modules from its TypeScript. Needs npm.
web: $(VENV)/.installed
	$(BIN)/python -m livetools.integrations.relay.typescript > livetools/web/src/messages.ts
	cd livetools/web && npm ci --silent && npm run --silent build

bench: $(VENV)/.installed
	$(BIN)/python bench/calls.py
	$(BIN)/python bench/fake_server.py

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
