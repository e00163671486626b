# maloko: everything from a clean clone with Rust, Python >= 3.10, Node >= 20 and make.
#
#   make build    .venv/bin/maloko (from the wheel) and node-tests/node_modules/.bin/maloko (from the npm package);
#                 PROFILE=dev builds them quickly, for work on maloko itself
#   make test     every suite
#   make demo     the examples, deployed, changed, previewed and destroyed in both languages
#   make verify   formatting, lints, types, generated files
#   make bench    the speed table of docs/performance.md (`make bench-engine`: the engine alone)
#   make kill     fifty runs killed at random moments, per language
#
# Stamps in .build/ keep a target from being made twice; `make clean` removes what this file made, save Rust's target/.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
CARGO ?= cargo
NODE ?= node
NPM ?= npm
# `make build PROFILE=dev` builds quickly, for work on maloko itself; what is shipped and measured is the release build.
PROFILE ?= release

# The ends of the SDK range that is tested (the newest stands in requirements-dev.txt and node-tests/package.json).
OLDEST_PULUMI_PYTHON := 3.139.0
OLDEST_PULUMI_NODE := 3.139.0

STAMPS := .build
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
NPM_QUIET := --no-audit --no-fund --loglevel=error
MALOKO_PY := $(CURDIR)/$(VENV)/bin/maloko
MALOKO_JS := $(CURDIR)/node-tests/node_modules/.bin/maloko

# What the binaries are made from.
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find engine-core engine-cli -type f -not -path "*/tests/*" -not -path "*/benches/*" -not -name "*_tests.rs")
PY_SOURCES := $(shell find py-binding -type f -not -path '*/__pycache__/*' -not -path '*/target/*' -not -name '*.so')
NODE_SOURCES := $(shell find node-binding -type f -not -path '*/node_modules/*' -not -path '*/dist/*' -not -path '*/target/*' -not -name '*.node' -not -name '*.tgz')

.PHONY: help
help:
	@sed -n 's/^#   //p' Makefile

# ---------------------------------------------------------------------------------------------------------------------
# Tools

$(STAMPS)/tools-checked: | $(STAMPS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "maloko needs Python 3.10 or newer; name one with PYTHON=..." >&2; exit 1; }
	@$(NODE) -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' || { echo "maloko needs Node 20 or newer" >&2; exit 1; }
	@$(CARGO) --version > /dev/null || { echo "maloko needs Rust (cargo)" >&2; exit 1; }
	@touch $@

$(STAMPS):
	@mkdir -p $@

$(STAMPS)/venv: requirements-dev.txt | $(STAMPS)/tools-checked
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements-dev.txt
	@touch $@

$(STAMPS)/node-binding-modules: node-binding/package.json node-binding/package-lock.json | $(STAMPS)/tools-checked
	$(NPM) --prefix node-binding ci $(NPM_QUIET)
	@touch $@

# ---------------------------------------------------------------------------------------------------------------------
# Build

.PHONY: build build-python build-node
build: build-python build-node
build-python: $(STAMPS)/python
build-node: $(STAMPS)/node

$(STAMPS)/wheel: $(RUST_SOURCES) $(PY_SOURCES) $(STAMPS)/venv
	rm -rf $(STAMPS)/wheels
	CARGO=$(CARGO) $(VENV)/bin/maturin build --profile $(PROFILE) --quiet --manifest-path py-binding/Cargo.toml --out $(STAMPS)/wheels
	@touch $@

$(STAMPS)/python: $(STAMPS)/wheel
	$(PIP) --force-reinstall --no-deps $(STAMPS)/wheels/maloko-*.whl
	@touch $@

$(STAMPS)/npm-package: $(RUST_SOURCES) $(NODE_SOURCES) $(STAMPS)/node-binding-modules
	rm -rf $(STAMPS)/npm && mkdir -p $(STAMPS)/npm
	MALOKO_PROFILE=$(PROFILE) $(NPM) --prefix node-binding run --silent build
	cd node-binding && $(NPM) pack --silent --pack-destination ../$(STAMPS)/npm
	@touch $@

$(STAMPS)/node-tests-modules: node-tests/package.json node-tests/package-lock.json | $(STAMPS)/tools-checked
	# Not `npm ci`: jest's resolver names optional packages of other platforms that not every registry has.
	cd node-tests && $(NPM) install --no-save $(NPM_QUIET)
	@touch $@

$(STAMPS)/node: $(STAMPS)/npm-package $(STAMPS)/node-tests-modules
	cd node-tests && $(NPM) install --no-save $(NPM_QUIET) ../$(STAMPS)/npm/maloko-*.tgz
	@touch $@

# ---------------------------------------------------------------------------------------------------------------------
# Test

.PHONY: test test-rust test-python test-node conformance adoption test-examples kill-sample
test: build test-rust model model-bugs test-python test-node conformance conformance-oldest adoption test-examples kill-sample
	@echo "make test: every suite passed"

test-rust:
	$(CARGO) test --quiet -p maloko-core -p maloko-cli -p maloko-model

# Generated lifecycles against the engine and the model (docs/model.md); one of them again: make model SEED=1 PROGRAM=17
PROGRAMS ?= 10000
.PHONY: model model-bugs
# Each bug that is planted in the engine on purpose must be noticed.
model-bugs:
	$(CARGO) test --quiet -p maloko-model --features planted-bugs --test planted
model:
	$(CARGO) run --quiet -p maloko-model -- --seed $(SEED) $(if $(PROGRAM),--program $(PROGRAM),--programs $(PROGRAMS))

test-python: $(STAMPS)/python
	$(PY) -m pytest python-tests -q

test-node: $(STAMPS)/node
	$(NPM) --prefix node-tests test

# The cases that must pass stand in conformance/pass-LANGUAGE.txt; `make conformance-python CASES='cases/x.json'` runs others.
cases = $(addprefix conformance/cases/,$(addsuffix .json,$(shell sed 's/\#.*//' $(1))))
CASES_PYTHON = $(or $(CASES),$(call cases,conformance/pass-python.txt))
CASES_NODE = $(or $(CASES),$(call cases,conformance/pass-nodejs.txt))
lifecycle = $(filter conformance/cases/lifecycle-%,$(1))
JOBS ?= 2

.PHONY: conformance-python conformance-node conformance-oldest conformance-oldest-python conformance-oldest-node
conformance: conformance-python conformance-node
conformance-python: $(STAMPS)/python
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) conformance/run.py --cli $(MALOKO_PY) --lang python --jobs $(JOBS) $(CASES_PYTHON)
conformance-node: $(STAMPS)/node
	$(PYTHON) conformance/run.py --cli $(MALOKO_JS) --lang nodejs --node-modules node-tests/node_modules --jobs $(JOBS) $(CASES_NODE)

conformance-oldest: conformance-oldest-python conformance-oldest-node
conformance-oldest-python: $(STAMPS)/oldest-python
	PATH="$(CURDIR)/$(STAMPS)/oldest-venv/bin:$$PATH" $(PY) conformance/run.py --cli $(CURDIR)/$(STAMPS)/oldest-venv/bin/maloko --lang python --jobs $(JOBS) $(call lifecycle,$(CASES_PYTHON))
conformance-oldest-node: $(STAMPS)/oldest-node
	$(PYTHON) conformance/run.py --cli $(CURDIR)/$(STAMPS)/oldest-node-tree/node_modules/.bin/maloko --lang nodejs --node-modules $(STAMPS)/oldest-node-tree/node_modules --jobs $(JOBS) $(call lifecycle,$(CASES_NODE))

$(STAMPS)/oldest-python: $(STAMPS)/wheel
	test -d $(STAMPS)/oldest-venv || $(PYTHON) -m venv $(STAMPS)/oldest-venv
	$(STAMPS)/oldest-venv/bin/python -m pip install --quiet --disable-pip-version-check pulumi==$(OLDEST_PULUMI_PYTHON)
	$(STAMPS)/oldest-venv/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(STAMPS)/wheels/maloko-*.whl
	@touch $@

$(STAMPS)/oldest-node: $(STAMPS)/npm-package
	mkdir -p $(STAMPS)/oldest-node-tree
	echo '{"name":"oldest","private":true}' > $(STAMPS)/oldest-node-tree/package.json
	cd $(STAMPS)/oldest-node-tree && $(NPM) install $(NPM_QUIET) @pulumi/pulumi@$(OLDEST_PULUMI_NODE) typescript@5 @types/node@20 ../npm/maloko-*.tgz
	@touch $@

# A state that the reference engine wrote is adopted without a change, then updated.
adoption: build
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) conformance/adopt.py --cli $(MALOKO_PY) --lang python
	$(PYTHON) conformance/adopt.py --cli $(MALOKO_JS) --lang nodejs --node-modules node-tests/node_modules

# The examples' own packages; each project could also be installed by itself.
$(STAMPS)/examples-python: examples/python/requirements.txt $(STAMPS)/python
	$(PIP) -r examples/python/requirements.txt
	@touch $@

$(STAMPS)/examples-node: examples/typescript/package.json examples/typescript/package-lock.json $(wildcard examples/typescript/*/package.json) $(STAMPS)/npm-package
	$(NPM) --prefix examples/typescript ci $(NPM_QUIET)
	cd examples/typescript && $(NPM) install --no-save $(NPM_QUIET) ../../$(STAMPS)/npm/maloko-*.tgz
	@touch $@

test-examples: build $(STAMPS)/examples-python $(STAMPS)/examples-node
	$(PY) -m pytest examples/tests -q

KILLS ?= 50
SEED ?= 1
.PHONY: kill
kill-sample: KILLS := 5
kill kill-sample: build $(STAMPS)/examples-python $(STAMPS)/examples-node
	$(PY) -m examples.kill.run --lang python --kills $(KILLS) --seed $(SEED)
	$(PY) -m examples.kill.run --lang nodejs --kills $(KILLS) --seed $(SEED)

# ---------------------------------------------------------------------------------------------------------------------
# Demo and bench

.PHONY: demo bench bench-engine
demo: build $(STAMPS)/examples-python $(STAMPS)/examples-node
	$(PY) -m examples.demo

bench: build
	$(PY) bench/run.py --write docs/performance.md

# The engine without a host language: 100,000 resources (criterion).
bench-engine:
	$(CARGO) bench -p maloko-core

# ---------------------------------------------------------------------------------------------------------------------
# Verify

.PHONY: verify verify-rust verify-python verify-node verify-rules types types-fresh
verify: verify-rust verify-python verify-node verify-rules types-fresh
	@echo "make verify: clean"

verify-rust:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --quiet --workspace --all-targets -- -D warnings

verify-python: $(STAMPS)/examples-python
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	for example in examples/python/*/; do (cd $$example && ../../../$(VENV)/bin/mypy --config-file= --explicit-package-bases --strict --python-version 3.10 .); done

# Every test that the tables of docs/rules name is there.
verify-rules:
	$(PYTHON) docs/rules/check.py

verify-node: $(STAMPS)/node $(STAMPS)/node-binding-modules $(STAMPS)/examples-node
	$(NPM) --prefix node-binding run --silent lint
	$(NPM) --prefix node-binding run --silent typecheck
	$(NPM) --prefix node-tests run --silent lint
	$(NPM) --prefix node-tests run --silent typecheck
	$(NPM) --prefix examples/typescript run --silent typecheck

# Rewrites the committed .pyi and .d.ts from the bindings (the .d.ts is written by the build itself); stale ones fail the second target.
types: build
	rm -rf $(STAMPS)/stubs
	cd py-binding && ../$(VENV)/bin/maturin generate-stubs --quiet --profile release --out ../$(STAMPS)/stubs
	cp $(STAMPS)/stubs/maloko/_maloko.pyi py-binding/python/maloko/_maloko.pyi
types-fresh: types
	@git diff --exit-code -- '*.pyi' '*.d.ts' '*.d.cts' || { echo "generated types are stale: run make types and commit" >&2; exit 1; }

.PHONY: clean
clean:
	rm -rf $(STAMPS) $(VENV) node-tests/node_modules node-binding/node_modules examples/typescript/node_modules
