# `make demo` and `make test` are all there is to know; each sets up .venv the first time, and again when pyproject.toml
# has changed. Another Python: `make test PYTHON=python3.12`. Options for the demonstration:
# `make demo ARGS='--set training.seed=2'`.

PYTHON = python3
VENV = .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
ARGS =
# The programs that the tests start would otherwise compile the package again, each of them.
export PYTHONDONTWRITEBYTECODE =
# A file of tests stays in one process, whose fixtures it shares; the long ones, which come first, are not left for the end.
PYTEST = $(BIN)/pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
TESTS = tests/system tests/docs tests/test_forked.py tests/test_kept.py tests/unit tests/conformance tests/benchmarks tests/tools

.PHONY: help demo checks test test-slow test-nightly docs clean

help:
	@echo "make demo       set up, then train a small translator and show what it does (writes rnnsearch-demo/)"
	@echo "make test       set up, then check style, types and imports, and run the tests"
	@echo "make checks     only the checks of style, types and imports"
	@echo "make test-slow  the tests that take long, as those of the how-to guides"
	@echo "make test-nightly  before a release: the campaign, clusters, Triton's interpreter, every benchmark at a tiny size"
	@echo "make docs       set up, then build the documentation as a site in build/site"
	@echo "make clean      remove the virtual environment and everything that can be made again"

demo: $(VENV)/.installed
	$(BIN)/rnnsearch demo $(ARGS)

checks: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

# The checks run beside the tests, after the aligner's loops have been compiled, which every process of tests would do.
test: $(VENV)/.installed-dev
	@mkdir -p build; \
	{ echo 'a ||| b' | $(BIN)/rnnsearch fast_align -i - >/dev/null 2>&1; $(MAKE) --no-print-directory checks; } \
	  >build/checks.log 2>&1 & \
	checks=$$!; \
	$(PYTEST) -m "not slow and not nightly" --hypothesis-profile quick $(TESTS); tests=$$?; \
	wait $$checks; checks=$$?; \
	cat build/checks.log; \
	exit $$((tests | checks))

test-slow: $(VENV)/.installed-dev
	$(PYTEST) -m "slow and not nightly" --hypothesis-profile quick $(TESTS)

test-nightly: $(VENV)/.installed-dev
	$(PYTEST) -m "nightly or hypothesis" --hypothesis-profile thorough $(TESTS)

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# PyTorch comes first, in the version that this repository is tested with; the package itself takes a range.
$(VENV)/.torch:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rnnsearch needs Python 3.11 or newer, and '$(PYTHON)' is not that: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "setting up $(VENV) (a few minutes, once)"
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu it is in the package python3-venv" >&2; exit 1; }
	@$(PIP) install torch==2.13.0
	@touch $@

$(VENV)/.installed: $(VENV)/.torch pyproject.toml
	@$(PIP) install -e '.[train]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.torch pyproject.toml
	@$(PIP) install -e '.[dev]'
	@touch $(VENV)/.installed $@

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests docs benchmarks tools -name __pycache__ -type d -exec rm -rf {} +
