# Everything here starts from python3, pip and make alone; `make help` lists it.
#   PYTHON=python3.12 make test      another interpreter (torch then comes as a larger download)

SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.tenure-ready
REAL := $(VENV)/.tenure-real-programs
BENCH := $(VENV)/.tenure-bench
NATIVE := $(wildcard src/tenure/*/*.c src/tenure/*/*/*.c src/tenure/*/c/*.h src/tenure/*/*/c/*.h)
# Tests here go through all objects of their own process: beside the other files' tests, collected but not run, they take
# four times as long, so they have processes to themselves.
OF_THE_HEAP := tests/capture/heap tests/release
PYTEST = OMP_NUM_THREADS=1 $(RUN) -m pytest -n 2 --dist loadgroup
# Compiled once, not in each of the hundreds of processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test thorough check format pages zoo zoo-programs bench matrix public-names hooks clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## make .venv with torch, Tenure and the development tools

demo: $(READY) ## four leaking programs, diagnosed, each with and without its fix
	@$(VENV)/bin/tenure demo

test: $(READY) $(REAL) ## the test suite, real programs included; variations of what it runs: make thorough
	@failed=0; \
	$(PYTEST) -m 'not thorough' $(OF_THE_HEAP) || failed=1; \
	$(PYTEST) -m 'not thorough' $(OF_THE_HEAP:%=--ignore=%) --durations=30 --durations-min=10 || failed=1; \
	exit $$failed

thorough: $(READY) $(REAL) ## the variations that `make test` leaves out
	@$(PYTEST) -m thorough

check: $(READY) ## format, lint, strict types, floor plan and the quick tests; some minutes
	@$(RUN) -m ruff format --check .
	@$(RUN) -m ruff check .
	@$(RUN) -m mypy
	@$(RUN) -m pytest -q tests/test_floor_plan.py
	@OMP_NUM_THREADS=1 $(RUN) -m pytest -q -n 2 --dist loadfile -m 'not slow' --ignore=tests/test_floor_plan.py

format: $(READY) ## rewrite the source in the house's format
	@$(RUN) -m ruff format .
	@$(RUN) -m ruff check --fix .

pages: $(READY) ## run every program of the rules' pages under the recorder; `make test` runs the first leak of each page
	@WHOLE_PAGES=1 OMP_NUM_THREADS=1 $(RUN) -m pytest -q -n 2 --dist loadgroup tests/test_rule_pages.py

zoo: $(READY) $(REAL) ## diagnose every program of the leak zoo and compare with the truth
	@$(RUN) benchmarks/zoo_score.py

zoo-programs: $(READY) $(REAL) ## run every program of the leak zoo plainly, leaky and fixed; `make test` runs a sample
	@WHOLE_ZOO=1 OMP_NUM_THREADS=1 $(RUN) -m pytest -q -n 2 tests/test_zoo.py

NOT_ALONE := lint_rivals lint_speed zoo_beside zoo_rewritings zoo_trees plan_on_cuda zoo_on_cuda zoo_score

bench: $(READY) $(BENCH) ## the benchmarks that need neither arguments nor a device, a table each; hours
	@for script in $(filter-out $(NOT_ALONE:%=benchmarks/%.py),$(wildcard benchmarks/*.py)); do echo "== $$script"; $(RUN) "$$script" || exit 1; done

matrix: ## a short list of tests on several versions of torch and Python; gigabytes, an environment at a time
	@$(PYTHON) scripts/matrix.py

public-names: $(READY) ## rewrite tests/public_names.txt after a wanted change of the public face
	@$(RUN) tests/test_public_names.py

hooks: $(READY) ## install the pre-commit hooks
	@$(RUN) -m pip install --quiet pre-commit
	@$(VENV)/bin/pre-commit install

clean: ## remove what make made
	rm -rf $(VENV) build dist src/*.egg-info src/tenure/*/*.so src/tenure/*/*/*.so .mypy_cache .pytest_cache .ruff_cache .hypothesis

# A system without the venv module's own pip (Debian's bare python3) lends the new environment its pip.
$(VENV)/bin/python:
	@$(PYTHON) -c '' 2>/dev/null || { echo "make: there is no '$(PYTHON)'; name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 10) or sys.exit("make: $(PYTHON) is Python %d.%d, Tenure needs 3.10 or newer; name another: make PYTHON=python3.11" % v[:2])'
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 \
	  || { rm -rf $(VENV); $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(VENV)/bin/python install --quiet pip; } \
	  || { rm -rf $(VENV); echo "make: $(PYTHON) could not make $(VENV); it needs the venv module and pip" >&2; exit 1; }

$(READY): $(VENV)/bin/python pyproject.toml setup.py constraints.txt $(NATIVE)
	@echo "installing Tenure, torch and the development tools into $(VENV) ..."
	@$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[torch,dev]'
	@$(RUN) -c 'import tenure.capture.heap._heapwalk' 2>/dev/null \
	  || echo "note: no working C compiler with Python's headers here, so the census and the step scope run in plain Python: same results, slower; \`tenure fix\` asks for --in-place."
	@touch $@

$(REAL): $(READY)
	@echo "installing the real programs that tests/real watches (transformers, diffusers, lightning, accelerate) ..."
	@$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[torch,real]'
	@touch $@

$(BENCH): $(READY)
	@$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[torch,bench]'
	@touch $@
