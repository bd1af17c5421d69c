# Every target sets up what it needs in .venv, and does so once.
PYTHON ?= python3
BIN := .venv/bin
# One test process per core: threads within each would only get in the way of the others.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal

.PHONY: demo quick test check docs bench paper clean

demo: .venv/.installed
	@$(BIN)/unseen demo

# A minute: all but the slow tests and scikit-learn's own checks of every estimator.
quick: .venv/.dev
	$(PYTEST) tests -m "not slow and not sklearn_checks"

test: .venv/.dev
	$(PYTEST)

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST)

docs: .venv/.docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: .venv/.dev
	$(BIN)/python benchmarks/klr.py
	$(BIN)/python benchmarks/bootstrap.py
	$(BIN)/python benchmarks/pair_choice.py
	$(BIN)/python benchmarks/single_class.py
	$(BIN)/python benchmarks/mixture.py
	$(BIN)/python benchmarks/compare.py
	$(BIN)/python benchmarks/coverage.py
	$(BIN)/python benchmarks/coverage_closed.py
	$(BIN)/python benchmarks/false_alarms.py

# All tables and figures, an hour on two cores; a run that was stopped goes on. For less:
# make paper PAPER="table1 --quick"
paper: .venv/.dev
	$(BIN)/python -m paper $(PAPER)

clean:
	rm -rf .venv docs/_build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit("unseen needs Python 3.11 or newer; got " + sys.version.split()[0] + ". Try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

.venv/.installed: .venv/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.dev: .venv/.installed
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

.venv/.docs: .venv/.dev
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@
