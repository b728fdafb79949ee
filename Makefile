# Needs Python 3.11 or newer, and make. Everything else is installed into .venv.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
CORES := $(shell getconf _NPROCESSORS_ONLN)
# Tests often wait for other processes: this many of pytest's keep the cores busy.
PYTEST := $(BIN)/python -m pytest -n $$(($(CORES) * 2 + 1)) --dist loadscope --no-loadscope-reorder
# What needs no engine, no browser, no other program, no video decoding and no whole system.
FAST := not engines and not chromium and not processes and not media and not system and not chaos and not deploy
# Where it is set, every process compiles the whole product again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup setup-dev browser demo test compiled-tests test-fast chaos soak deploy-test coverage lint types bench docs-check audit sbom lock update-ytdlp clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.runtime ## create .venv with the footy command in it

setup-dev: $(VENV)/.dev

# Debian's python3 can come without ensurepip: then the system's pip fills the environment.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "found-footy needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV) && $(PYTHON) -m venv --without-pip $(VENV) && \
		$(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }

$(VENV)/.runtime: $(BIN)/python requirements.lock requirements-build.lock pyproject.toml
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-build.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements-dev.lock
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

# X is searched in a real browser. Debian's packages are the ones that bring their libraries along; the one without
# windows costs half as much, but not every system has it.
BROWSERS := chromium-headless-shell chrome-headless-shell chromium chromium-browser google-chrome
browser: ## install Chromium where it is missing
	@for name in $(BROWSERS); do command -v $$name >/dev/null && exit 0; done; \
		command -v apt-get >/dev/null || { echo "install Chromium to run the tests"; exit 1; }; \
		$(SUDO) apt-get update -qq && \
		for name in chromium-headless-shell chromium; do \
			$(SUDO) apt-get install -y -qq --no-install-recommends $$name && exit 0; done; exit 1

demo: setup ## play a whole matchday on the embedded engines
	$(BIN)/footy demo $(ARGS)

test: setup-dev browser ## lint, types and all tests (ten minutes on two cores)
	@$(MAKE) --no-print-directory -j$(CORES) types lint compiled-tests
	$(PYTEST) --durations=15 $(ARGS)

# Else each of pytest's processes compiles all tests.
compiled-tests: setup-dev
	@found=$$($(BIN)/python -m pytest -n 0 --collect-only -qq 2>&1) || { echo "$$found" | tail -50; exit 1; }

test-fast: setup-dev ## rules and contracts without engines (a minute)
	$(PYTEST) -m "$(FAST)" $(ARGS)

# With ARGS it plays only those seeds, such as ARGS="--seeds 1-100" or ARGS="--seed 17 --verbose".
chaos: setup-dev browser ## kill matrices, outages, generated examples, and 30 disturbed matchdays
	$(if $(ARGS),,HYPOTHESIS_PROFILE=chaos $(BIN)/python -m pytest -n 0 -m "chaos or property")
	$(BIN)/python -m tests.chaos.run $(or $(ARGS),--seeds 1-30)

soak: setup-dev ## six accelerated days; fails if anything grows without bound (20 minutes)
	$(BIN)/python -m bench.soak $(ARGS)

deploy-test: setup-dev ## build the image and play a matchday on two machines (root, podman)
	$(BIN)/python -m pytest -n 0 -m deploy tests/deploy $(ARGS)

coverage: setup-dev browser ## lines that no test reaches, in htmlcov/
	$(PYTEST) --cov --cov-report=html --cov-report=term:skip-covered $(ARGS)

lint: setup-dev ## ruff and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup-dev ## mypy --strict
	$(BIN)/mypy

bench: setup-dev ## measure the figures of docs/reference/performance.md
	$(BIN)/python -m bench $(ARGS)

docs-check: setup-dev ## check links and that every setting and command is documented
	$(BIN)/python -m pytest -n 0 tests/test_docs.py tests/test_source.py

audit: setup-dev ## report known vulnerabilities of all locked packages
	$(BIN)/python .ci/dependencies.py audit $(ARGS)

sbom: setup-dev ## write a bill of materials of the runtime packages, sbom.cdx.json
	$(BIN)/python .ci/dependencies.py sbom --output sbom.cdx.json

COMPILE := $(BIN)/uv pip compile --generate-hashes --universal --python-version 3.11 --no-annotate --no-header -q
lock: setup-dev ## update the hashed lock files
	$(COMPILE) pyproject.toml --upgrade -o requirements.lock
	$(COMPILE) pyproject.toml --extra dev --upgrade -o requirements-dev.lock
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' | \
		$(COMPILE) - --upgrade -o requirements-build.lock

# Its extractors age in weeks. Everything else keeps its version.
update-ytdlp: setup-dev ## renew yt-dlp in the lock files and install it
	$(COMPILE) pyproject.toml --upgrade-package yt-dlp -o requirements.lock
	$(COMPILE) pyproject.toml --extra dev --upgrade-package yt-dlp -o requirements-dev.lock
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	@touch $(VENV)/.runtime $(VENV)/.dev
	@echo "restart the workers: they keep the version that they have loaded"

clean: ## remove the environment and the caches; data folders stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage htmlcov $${XDG_CACHE_HOME:-$$HOME/.cache}/found-footy/clips
