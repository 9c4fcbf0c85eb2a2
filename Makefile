# Every command of the project. All of them make the environment first, and again when the
# build files or the C++ sources have changed.

SHELL := bash
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
START := $(shell date +%s)

BUILT_FROM := pyproject.toml CMakeLists.txt \
	$(shell find native/include native/src native/bindings -name '*.[ch]pp')
NATIVE := $(shell find native -name '*.[ch]pp')
PACKAGE := $(shell find src -name '*.py' -o -name '*.toml')
PEERS := build/peers-env

export PATH := $(CURDIR)/$(BIN):$(PATH)

# The data sets, if they lie beside the working copy.
ifndef BANDITREE_DATA
ifneq ($(wildcard ../shared/data),)
export BANDITREE_DATA := $(abspath ../shared/data)
endif
endif

.PHONY: help install reproduce test test-native test-python test-slow test-without-data check lint lint-python lint-format lint-native lint-types format stub bench bench-peers bench-peers-full regret clean
.NOTPARALLEL:

help:
	@echo "install      the environment in .venv, with the package in it (editable)"
	@echo "reproduce    the experiments of the paper in a quick version, with a report"
	@echo "test         tests of the core under sanitizers, then pytest without the slow tests"
	@echo "test-slow    the slow tests"
	@echo "test-without-data  the quick tests of studies once more, with no data and no network"
	@echo "check        lint, types and test"
	@echo "lint         ruff, clang-format and mypy; lint-python, -format, -native, -types: one of them"
	@echo "format       format Python and C++"
	@echo "stub         write src/banditree/_core.pyi from the compiled core"
	@echo "bench        how fast trees and policies are"
	@echo "bench-peers  regret, time and memory beside other libraries, a short version (minutes)"
	@echo "bench-peers-full  all of it, and docs/benchmarks.md with it (hours; goes on where it stood)"
	@echo "regret       how well policies do on the five tasks (half an hour or more)"
	@echo "clean        remove the build and the caches; .venv stays"

install: $(INSTALLED)

$(BIN)/python:
	$(PYTHON) -m venv .venv

# Without build isolation, so that the build folder stays valid and a rebuild is incremental.
$(INSTALLED): $(BUILT_FROM) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ninja \
		$$($(BIN)/python -c "import tomllib; \
		print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'])")
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--no-build-isolation --editable '.[dev]'
	@touch $@

reproduce: $(INSTALLED)
	$(BIN)/banditree reproduce
	@echo "make reproduce took $$(( $$(date +%s) - $(START) )) s"

test: test-native test-python
	@echo "make test took $$(( $$(date +%s) - $(START) )) s"

test-native: $(INSTALLED)
	cmake -S . -B build/native-tests -G Ninja -DCMAKE_BUILD_TYPE=Debug \
		-DBANDITREE_TESTS=ON -DBANDITREE_SANITIZE=ON > /dev/null
	cmake --build build/native-tests
	build/native-tests/banditree_tests

test-python: $(INSTALLED)
	$(BIN)/pytest -n auto --dist loadfile -m "not slow"

test-slow: $(INSTALLED)
	$(BIN)/pytest -m slow
	@echo "make test-slow took $$(( $$(date +%s) - $(START) )) s"

# As on a fresh machine: no data, nothing in the cache, and nobody to ask.
test-without-data: $(INSTALLED)
	empty=$$(mktemp -d) && trap 'rm -rf "$$empty"' EXIT && mkdir "$$empty/data" && \
	BANDITREE_NO_NETWORK=1 BANDITREE_DATA="$$empty/data" BANDITREE_CACHE="$$empty/cache" \
		$(BIN)/pytest -n auto --dist loadfile -m "not slow" tests/environments tests/studies \
		tests/test_cli.py tests/test_benchmarks.py

check: lint test

lint: lint-python lint-format lint-native lint-types

lint-python: $(INSTALLED)
	$(BIN)/ruff check

lint-format: $(INSTALLED)
	$(BIN)/ruff format --check

lint-native: $(INSTALLED)
	$(BIN)/clang-format --dry-run -Werror $(NATIVE)

lint-types: $(INSTALLED)
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff check --fix --exit-zero --quiet
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(NATIVE)

stub: $(INSTALLED)
	$(BIN)/python -m nanobind.stubgen -m banditree._core -o src/banditree/_core.pyi
	$(BIN)/ruff format src/banditree/_core.pyi

bench: $(INSTALLED)
	$(BIN)/python benchmarks/trees.py
	$(BIN)/python benchmarks/policies.py
	$(BIN)/python benchmarks/long_life.py
	$(BIN)/python benchmarks/bandit_cost.py
	$(BIN)/python benchmarks/snapshots.py
	$(BIN)/python benchmarks/evaluation.py
	PYTHONPATH=benchmarks $(BIN)/python -m peers.step_for_step

regret: $(INSTALLED)
	$(BIN)/python benchmarks/regret.py

# The peers have an environment of their own, where this package is as a user has it.
$(PEERS)/.installed: benchmarks/peers/requirements.txt benchmarks/peers/install.py
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python benchmarks/peers/install.py
	@touch $@

$(PEERS)/.with-package: $(PEERS)/.installed $(BUILT_FROM) $(PACKAGE)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint benchmarks/peers/requirements.txt \
		--config-settings build-dir=build/peers-package .
	@touch $@

bench-peers: $(PEERS)/.with-package
	PYTHONPATH=benchmarks $(PEERS)/bin/python -m peers

bench-peers-full: $(PEERS)/.with-package
	PYTHONPATH=benchmarks $(PEERS)/bin/python -m peers --full

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis $(INSTALLED)
	find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
