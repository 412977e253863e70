# Two commands: `make demo` and `make test`. Each sets up all it needs in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_OUT ?= demo-out

.PHONY: demo test lint types rooms unit docs test-long benchmark lock clean

demo: $(VENV)/.runtime
	$(BIN)/devcem demo --out $(DEMO_OUT)

test: lint types rooms unit docs

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

rooms: $(VENV)/.dev
	$(BIN)/lint-imports

unit: $(VENV)/.dev
	$(BIN)/pytest -n 2 --cov --cov-report=term:skip-covered --cov-fail-under=90

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

test-long: $(VENV)/.dev
	$(BIN)/pytest -m long

lock: $(VENV)/.dev
	$(BIN)/uv pip compile -q pyproject.toml --universal --no-emit-index-url --no-emit-find-links --no-header -o locks/runtime.txt
	$(BIN)/uv pip compile -q pyproject.toml --extra dev --universal --no-emit-index-url --no-emit-find-links --no-header -c locks/runtime.txt -o locks/dev.txt

# The stamps make a second call instant, and a changed lock a fresh install.
$(VENV)/.runtime: locks/runtime.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("DeVCEM needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; try: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -q -r locks/runtime.txt
	$(BIN)/python -m pip install --disable-pip-version-check -q --no-deps -e .
	touch $@

$(VENV)/.dev: locks/dev.txt $(VENV)/.runtime
	$(BIN)/python -m pip install --disable-pip-version-check -q -r locks/dev.txt
	touch $@

clean:
	rm -rf $(VENV) $(DEMO_OUT) site .coverage .mypy_cache .ruff_cache .pytest_cache
