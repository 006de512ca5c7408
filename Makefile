# Every target sets up what it needs: Python 3.10 or later and make are enough to begin with.
PYTHON ?= python3
PYTEST_ARGS ?=
BASE ?= origin/main
DEMO_ARGS ?=

ifeq ($(OS),Windows_NT)
  BIN := .venv/Scripts
else
  BIN := .venv/bin
endif
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := $(shell find pytest_membudget -type f -not -name '*.pyc')

.PHONY: help demo test lint docs bench compare picture changelog fragment clean installed

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

# In an empty folder, as anybody would who has installed the package: the settings of this checkout are for its own tests.
# Left out: the naive PCA fit at its full size, which is an SVD of many minutes.
demo: .venv/.package  ## the budgets of the bundled suite, at the sizes of real jobs too, with the report
	@mkdir -p build/demo && touch build/demo/pytest.ini
	cd build/demo && "$(CURDIR)/$(BIN)/pytest" --pyargs pytest_membudget.suite --membudget-report -m "small or seed_size" \
	  -k "(within_budget or breaks_budget) and not (breaks_budget and pca_fit-seed_size)" $(DEMO_ARGS)

test: .venv/.package .venv/.dev  ## all tests, against the installed package
	$(BIN)/pytest $(PYTEST_ARGS)

lint: .venv/.package .venv/.dev  ## style, types, and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/.package .venv/.docs  ## the documentation, in build/docs/index.html; a warning is an error
	$(BIN)/sphinx-build --fail-on-warning --keep-going --nitpicky --quiet --fresh-env docs build/docs

bench: .venv/.package .venv/.dev  ## what measuring costs, and whether figures depend on the order of tests
	$(BIN)/python benchmarks/order.py
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/baseline.py

compare: .venv/.package .venv/.dev  ## the same tests under pytest-memray and under pytest-membudget
	$(BIN)/python docs/scripts/compare.py

picture: .venv/.package .venv/.docs  ## the picture in the README, from a run made now
	$(BIN)/python docs/scripts/picture.py docs/_static/report.svg

changelog: .venv/.dev  ## the fragments of changelog.d, gathered into CHANGELOG.md
	$(BIN)/towncrier build --yes

fragment: .venv/.dev  ## whether this branch, compared with BASE, has its fragment for the changelog
	$(BIN)/towncrier check --compare-with $(BASE)

clean:  ## away with all that was installed and built
	rm -rf .venv build dist

installed: .venv/.package .venv/.dev

.venv/.pip:
	$(PYTHON) -m venv .venv
	$(PIP) install --upgrade "pip>=25.1"
	@touch $@

# Uninstalled first: an unchanged version number tells pip that there is nothing to do.
.venv/.package: pyproject.toml $(SOURCES) | .venv/.pip
	$(PIP) --quiet uninstall --yes pytest-membudget
	$(PIP) install ".[suite]"
	@touch $@

.venv/.dev: pyproject.toml | .venv/.package
	$(PIP) install --group dev
	@touch $@

.venv/.docs: pyproject.toml | .venv/.package
	$(PIP) install --group docs
	@touch $@
