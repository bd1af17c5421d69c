# Every target sets up what it needs in .venv, and does so once. Python compiles what it imports, on first import:
# of the ten thousand modules that are installed most are never imported.
PYTHON ?= python3
INSTALL := -m pip install --quiet --no-compile
# Windows has no bin.
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
LOWEST := .venv-lowest/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
# One test process per core: threads within each would only get in the way of the others. Tests start many
# processes of Python, each of which would compile the package again where bytecode may not be written.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal

.PHONY: demo quick test test-lowest test-gpu rules check docs bench paper fuzz bad-input faults audit wheel clean

demo: .venv/.installed
	@$(BIN)/unseen demo

# A minute: all but the slow tests and scikit-learn's own checks of every estimator.
quick: .venv/.dev
	$(PYTEST) tests -m "not slow and not sklearn_checks"

test: .venv/.dev
	$(PYTEST)

# The lowest versions that pyproject.toml allows; Python 3.11, as they are as old as it. Newer versions of
# pyparsing warn of what matplotlib 3.8 does.
test-lowest: .venv-lowest/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(LOWEST)/pytest -n auto tests/samples tests/simplex tests/tables \
	  tests/proportions tests/test_api.py tests/test_persist.py tests/test_records.py tests/cli tests/study

# Torch on the CPU stands in for a graphics card. Its gigabytes are in no other target.
test-gpu: .venv/.dev
	$(BIN)/python -m pip install --quiet --group gpu
	$(PYTEST) tests/test_device.py tests/test_interoperability.py

# Damaged inputs by the thousand, for a minute of CPU time; what is found stays in benchmarks/corpus.
fuzz: .venv/.dev
	$(BIN)/python benchmarks/fuzz.py

# Every public function and command with every kind of bad input.
bad-input: .venv/.dev
	$(BIN)/python benchmarks/bad_input.py

# Signals, full disks, read-only folders, memory limits, closed pipes in every command that writes.
faults: .venv/.dev
	$(BIN)/python benchmarks/faults.py

# Known vulnerabilities of what is installed; asks the web.
audit: .venv/.dev
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --skip-editable

# The wheel in an environment of its own, from another folder: what a user would get.
wheel: .venv/.dev
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build --wheel --outdir dist
	rm -rf .venv-wheel && $(PYTHON) -m venv .venv-wheel
	.venv-wheel/$(notdir $(BIN))/python -m pip install --quiet "$$(ls dist/*.whl | tail -1)[cli]"
	cd dist && ../.venv-wheel/$(notdir $(BIN))/unseen demo

# Style, types, and who may import whom.
rules: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The rules beside the tests: mypy keeps one core busy, and would leave the others idle.
check: .venv/.dev
	@$(MAKE) --no-print-directory --jobs 2 rules test

docs: .venv/.docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	$(BIN)/python tools/links.py docs/_build/html

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
	rm -rf .venv .venv-lowest .venv-wheel dist docs/_build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit("unseen needs Python 3.11 or newer; got " + sys.version.split()[0] + ". Try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) "pip>=25.1"
	@touch $@

.venv/.installed: .venv/.created pyproject.toml
	$(BIN)/python $(INSTALL) --editable .
	@touch $@

.venv/.dev: .venv/.created pyproject.toml
	$(BIN)/python $(INSTALL) --editable . --group dev
	@touch $@ .venv/.installed

.venv/.docs: .venv/.dev
	$(BIN)/python $(INSTALL) --group docs
	@touch $@

.venv-lowest/.installed: pyproject.toml tools/lowest.py
	$(PYTHON) -m venv .venv-lowest
	$(LOWEST)/python tools/lowest.py > .venv-lowest/lowest.txt
	$(LOWEST)/python -m pip install --quiet -r .venv-lowest/lowest.txt --editable .
	$(LOWEST)/python -m pip install --quiet pytest pytest-xdist hypothesis polars jsonschema "pyparsing<3.3"
	@touch $@
