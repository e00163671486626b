# maloko: everything from a clean clone with Rust, Python >= 3.10, Node >= 20 and make.
#
#   make build    .venv/bin/maloko (from the wheel) and node-tests/node_modules/.bin/maloko (from the npm package), as they are
#                 shipped; PROFILE=dev builds them quickly, for work on maloko itself
#   make test     every suite, on a quick build; what each stage took is told at the end
#   make quick    what a commit would change, in a minute (the first one compiles: some minutes); `make hook` makes git run it before each commit
#   make types    the .pyi and the .d.ts of the native modules, from the Rust of the bindings
#   make test-python-versions   the testing kit, breakpoints and coverage on every Python that is found
#   make demo     the examples, deployed, changed, previewed and destroyed in both languages, on a quick build; needs PostgreSQL
#   make verify   formatting, lints, types, generated files
#   make page     the page that shows a stack or a run (page/dist/page.html); make test-page: in a real browser
#   make docs     the site of the documents in .build/docs, every link checked
#   make bench    the speed table of docs/internals/performance.md (`make bench-engine`: the engine alone)
#   make audit    licences, sources and known holes of what maloko is made of; needs the registries' databases
#   make test-node-versions   debuggers, coverage and the kit under each Node that is supported; fetches them
#   make packages the wheel and the npm package for old Linuxes (glibc 2.17), the sdist and the npm source package, in .build/packages/
#   make try-packages   the first two in an old Debian (as root), make try-sources   the others, built by pip and npm with cargo
#   make pictures the pictures of the README, from what a terminal shows
#   make kill     fifty runs killed at random moments, per language; KILL_STORE=s3 or postgres: over a real server
#   make kill-plugins  the same with resources of a plugin, also while a provider resource is replaced
#   make kill-points   runs killed at each named point of the journal's life, per language and kind of store
#   make mutants  small bugs in the core's pure decisions, one at a time, each of which a unit test has to notice (MUTANTS=FILES, SHARD=0/12)
#   make automation-table   docs/reference/automation-table.md, from what came of each method of the official Automation API
#   make policy-table   docs/reference/policy-table.md, from what came of packs made with the official packages
#   make real-plugins   plugins that are not ours, and the real `pulumi`, from Go modules; `make try-real-plugins` runs with them
#   make try-kubernetes  the same with the plugin of Kubernetes, whose build takes up to an hour; it asks no cluster
#   make try-keys        the real `pulumi` and ours in turns on stacks under each of the four key services
#   make try-sdks        SDKs of real packages beside those of the official generators, which are built from Go modules
#   make try-official-suite   the official suites of the Automation API, unmodified, with the real `pulumi` and with ours
#   make try-languages   programs in YAML and Go with their real host and SDK, built from Go modules
#   make nightly  the full form of everything, in parts of at most an hour (.ci/nightly.mk); make soak: without that bound
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
# What is shipped and measured is the release build, which takes nine minutes from nothing on two cores. Tests and checks run on one that
# shares what cargo made for the tests in Rust: some dependencies optimised, our own crates not.
PROFILE ?= $(if $(filter build build-% bench% soak%,$(MAKECMDGOALS)),release,$(if $(filter demo,$(MAKECMDGOALS)),demo,dev))

# The ends of the SDK range that is tested (the newest stands in requirements-dev.txt and node-tests/package.json).
OLDEST_PULUMI_PYTHON := 3.139.0
OLDEST_PULUMI_NODE := 3.139.0

# Python keeps what it compiled, whatever is set outside: otherwise each process compiles the SDK anew.
unexport PYTHONDONTWRITEBYTECODE

# cargo runs beside other things (make -j) and not under make's count of jobs.
export CARGO_MAKEFLAGS :=

STAMPS := .build
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
NPM_QUIET := --no-audit --no-fund --loglevel=error --prefer-offline
MALOKO_PY := $(CURDIR)/$(VENV)/bin/maloko
MALOKO_JS := $(CURDIR)/node-tests/node_modules/.bin/maloko

# What the binaries are made from.
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find engine-core engine-fleet engine-isolated engine-packages engine-plugins engine-rpc engine-stores engine-telemetry engine-cli engine-kit -type f -not -path "*/tests/*" -not -path "*/benches/*" -not -path "*/corpus/*" -not -name "*_tests.rs" -not -name ".*")
PY_SOURCES := $(shell find py-binding -type f -not -path '*/__pycache__/*' -not -path '*/target/*' -not -name '*.so')
NODE_SOURCES := $(shell find node-binding -type f -not -path '*/node_modules/*' -not -path '*/dist/*' -not -path '*/target/*' -not -name '*.node' -not -name '*.tgz')

# Whatever is named here is no file; stamps alone are.
.PHONY: $(shell sed -nE 's/^([a-z][a-z -]*):([^=].*)?$$/\1/p' Makefile .ci/nightly.mk)
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

$(STAMPS)/venv: requirements-dev.txt examples/python/requirements.txt | $(STAMPS)/tools-checked
	$(PYTHON) -m venv $(VENV)
	$(PIP) $$(grep '^uv==' requirements-dev.txt)
	$(call into_venv,$(VENV),-r requirements-dev.txt)
	@touch $@

# uv takes a quarter of the time; where it does not find what pip is configured to find, pip does.
into_venv = $(VENV)/bin/uv pip install --quiet --python $(1)/bin/python $(2) || \
	$(PY) -m pip --python $(1)/bin/python install --quiet --disable-pip-version-check $(2)
new_venv = test -d $(1) || $(VENV)/bin/uv venv --quiet --python $(VENV)/bin/python $(1)

# Tools from crates, each by its name and version.
CARGO_TOOLS := $(STAMPS)/cargo
$(CARGO_TOOLS)/cargo-%: | $(STAMPS)
	rm -f $(CARGO_TOOLS)/cargo-$(firstword $(subst @, ,$*))@*
	$(CARGO) install --quiet --locked --root $(CARGO_TOOLS) cargo-$*
	@touch $@

# Where CI keeps CARGO_TARGET_DIR, what npm installed is kept there, too.
MODULES := .ci/modules

$(STAMPS)/%-modules: %/package.json %/package-lock.json | $(STAMPS)/tools-checked
	$(MODULES) $* $(NPM) --prefix $* ci $(NPM_QUIET)
	@touch $@

# ---------------------------------------------------------------------------------------------------------------------
# Build

# What there is of each language, and of both.
PAIRS := build adoption conformance conformance-oldest conformance-plugins fleet-bugs kill kill-plugins try-real-plugins try-kubernetes
.PHONY: $(PAIRS)
$(PAIRS): %: %-python %-node

# What was built with another profile is built anew.
$(STAMPS)/profile-$(PROFILE): | $(STAMPS)
	@rm -f $(STAMPS)/profile-*
	@touch $@

# The build that tests run is made of what cargo made for the tests in Rust: with the same features, nothing is compiled twice. It therefore
# knows the points at which tests kill it, and keys that take no time for tests; a release has neither, whatever its features are.
FOR_TESTS := $(if $(filter dev,$(PROFILE)),--features for-tests)

build-python: $(STAMPS)/python
build-node: $(STAMPS)/node

$(STAMPS)/wheel: $(RUST_SOURCES) $(PY_SOURCES) $(STAMPS)/venv $(STAMPS)/profile-$(PROFILE)
	rm -rf $(STAMPS)/wheels
	CARGO=$(CARGO) $(VENV)/bin/maturin build --profile $(PROFILE) $(FOR_TESTS) $(if $(FOR_TESTS),--compression-level 1) --quiet --manifest-path py-binding/Cargo.toml --out $(STAMPS)/wheels
	@touch $@

$(STAMPS)/python: $(STAMPS)/wheel
	$(PIP) --force-reinstall --no-deps $(STAMPS)/wheels/maloko-*.whl
	@touch $@

$(STAMPS)/npm-package: $(RUST_SOURCES) $(NODE_SOURCES) $(STAMPS)/node-binding-modules $(STAMPS)/profile-$(PROFILE)
	rm -rf $(STAMPS)/npm && mkdir -p $(STAMPS)/npm
	MALOKO_PROFILE=$(PROFILE) MALOKO_CARGO_OPTIONS="$(FOR_TESTS)" $(NPM) --prefix node-binding run --silent build
	$(if $(FOR_TESTS),$(PYTHON) .ci/pack_node.py $(STAMPS)/npm,cd node-binding && $(NPM) pack --silent --pack-destination ../$(STAMPS)/npm)
	@touch $@

$(STAMPS)/node-tests-modules: node-tests/package.json node-tests/package-lock.json | $(STAMPS)/tools-checked
	# Not `npm ci`: jest's resolver names optional packages of other platforms that not every registry has.
	$(MODULES) node-tests $(NPM) --prefix node-tests install --no-save $(NPM_QUIET)
	@touch $@

$(STAMPS)/node: $(STAMPS)/npm-package $(STAMPS)/node-tests-modules
	cd node-tests && $(NPM) install --no-save $(NPM_QUIET) ../$(STAMPS)/npm/maloko-*.tgz
	@touch $@

# ---------------------------------------------------------------------------------------------------------------------
# The page: one HTML file, which the command line fills with what a stack or a run is (docs/internals/page.md)

# Committed: a build in Rust needs no Node.
PAGE := engine-cli/src/page/page.html
PAGE_SOURCES := $(shell find page -type f -not -path '*/node_modules/*' -not -path 'page/dist/*' -not -path 'page/test-results/*')

page: $(STAMPS)/page
$(STAMPS)/page: $(PAGE_SOURCES) $(STAMPS)/page-modules
	$(NPM) --prefix page run --silent build
	@# A file that is as it was stays as old as it was: it is a source of what is built in Rust.
	cmp -s page/dist/page.html $(PAGE) || cp page/dist/page.html $(PAGE)
	@touch $@
# What is committed is what comes of the sources.
verify-page: $(STAMPS)/page-modules
	$(NPM) --prefix page run --silent check
	$(NPM) --prefix page run --silent build
	@cmp page/dist/page.html $(PAGE) || { echo "$(PAGE) is not what page/ makes: make page" >&2; exit 1; }
# Needs Chromium from the system's packages; MALOKO_CHROMIUM names another one.
test-page: $(STAMPS)/page $(STAMPS)/node
	$(NPM) --prefix page test --silent
	$(NPM) --prefix page run --silent test:browser
# The pictures of the documents, from the tests' screenshots.
page-pictures: $(STAMPS)/page
	$(NPM) --prefix page run --silent pictures

# ---------------------------------------------------------------------------------------------------------------------
# Packages for other machines

# Everything of it is in .build/packages/, what cargo makes in target/packages/. zig brings the C library of any version and machine:
# make packages TARGET=aarch64-unknown-linux-gnu, or x86_64-unknown-linux-musl (GLIBC= then). The target's part of Rust must be there.
PACKAGES := $(STAMPS)/packages
PACKAGE_TOOLS := $(CURDIR)/$(PACKAGES)/tools/bin
TARGET ?= x86_64-unknown-linux-gnu
GLIBC ?= $(if $(findstring gnu,$(TARGET)),2.17)
COMPATIBILITY = $(if $(GLIBC),manylinux_$(subst .,_,$(GLIBC)),musllinux_1_2)
OLD_DEBIAN ?= bullseye

packages: wheel-package npm-package sources check-packages
wheel-package npm-package sources: export PATH := $(PACKAGE_TOOLS):$(PATH)
wheel-package npm-package: export CARGO_TARGET_DIR := $(CURDIR)/target/packages

$(PACKAGES)/tools/made: requirements-packages.txt | $(STAMPS)/tools-checked
	$(PYTHON) -m venv $(PACKAGES)/tools
	$(PACKAGES)/tools/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-packages.txt
	@touch $@

wheel-package: $(PACKAGES)/tools/made
	rm -rf $(PACKAGES)/wheels
	$(if $(findstring musl,$(TARGET)),RUSTFLAGS="-C target-feature=-crt-static") $(PACKAGE_TOOLS)/maturin build --quiet --profile release --zig --target $(TARGET) \
		--compatibility $(COMPATIBILITY) --manifest-path py-binding/Cargo.toml --out $(PACKAGES)/wheels

npm-package: $(PACKAGES)/tools/made $(STAMPS)/node-binding-modules
	rm -rf $(PACKAGES)/npm $(PACKAGES)/addons node-binding/dist
	$(NODE) node-binding/scripts/addon.mjs $(TARGET)$(if $(GLIBC),.$(GLIBC)) $(PACKAGES)/addons
	$(NPM) --prefix node-binding run --silent build:ts
	$(NODE) node-binding/scripts/pack.mjs $(PACKAGES)/npm $(PACKAGES)/addons/*.node

sources: $(PACKAGES)/tools/made $(STAMPS)/node-binding-modules
	rm -rf $(PACKAGES)/sources node-binding/dist
	$(PACKAGE_TOOLS)/maturin sdist --manifest-path py-binding/Cargo.toml --out $(PACKAGES)/sources
	$(NPM) --prefix node-binding run --silent build:ts
	$(NODE) node-binding/scripts/pack.mjs $(PACKAGES)/sources --source

# Reads the symbol versions, and sees that nothing that is for tests alone is inside.
check-packages:
	$(if $(GLIBC),.ci/glibc $(GLIBC) $(PACKAGES)/wheels/*.whl $(PACKAGES)/npm/*.tgz)

# As root: an old Debian in a folder, with a Python compiled there. Minutes.
try-packages:
	.ci/try_old_debian $(PACKAGES) $(OLD_DEBIAN) $(PACKAGES)/wheels/maloko-*.whl $(PACKAGES)/npm/maloko-*.tgz

# Everything is compiled. Minutes.
try-sources:
	.ci/try_sources $(PACKAGES)/sources/maloko-*.tar.gz $(PACKAGES)/sources/maloko-*-source.tgz $(PACKAGES)/tried

# ---------------------------------------------------------------------------------------------------------------------
# Test

# The first make what the others need; then the languages run beside each other, and what waits most of the time: the page's tests for
# Chromium, the stores' for their servers. When one of the languages has ended, all else begins: the other tests in Rust, the examples,
# Python's stories. (With these tests in Rust from the start, all of it took a seventh longer.) What each stage cost is told at the end
# (.ci/stages.py).
LANE_STORIES := model-sample conformance-python conformance-plugins-python conformance-oldest-python adoption-python kill-sample-python
LANE_NODE := test-node conformance-node conformance-plugins-node conformance-oldest-node adoption-node kill-sample-node
STAGES := test-build test-rust-build $(LANE_NODE) test-python $(LANE_STORIES) test-rust-engine test-rust-stores test-page test-examples
test: | $(STAMPS)/tools-checked
	@$(PYTHON) .ci/stages.py --first test-build test-rust-build --jobs 4 --lane $(LANE_NODE) --lane test-python \
		--beside test-page test-rust-stores --then test-rust-engine --then test-examples --then $(LANE_STORIES)
	@echo "make test: every suite passed; it leaves out hosts of real languages, such as YAML (make try-languages)"

# What a commit would change, against BASE.
BASE ?= HEAD
quick:
	@$(PYTHON) .ci/quick.py $(BASE)
hook:
	printf '#!/bin/sh\nexec make --no-print-directory quick\n' > "$$(git rev-parse --git-path hooks/pre-commit)"
	chmod +x "$$(git rev-parse --git-path hooks/pre-commit)"

test-build: build $(STAMPS)/page-modules $(STAMPS)/examples-python $(STAMPS)/examples-node $(STAMPS)/oldest-python $(STAMPS)/oldest-node $(STAMPS)/test-servers
test-rust-build:
	$(CARGO_TEST) --no-run
# The tests beside the code: seconds.
test-rust-units:
	$(CARGO_TEST) --lib

# The object stores' servers: moto is in requirements-dev.txt, Azurite here. Its telemetry, which is off, is an old one
# (package.json): the new one has 40,000 files.
$(STAMPS)/test-servers: engine-stores/tests/servers/package.json engine-stores/tests/servers/package-lock.json $(STAMPS)/venv
	$(MODULES) engine-stores/tests/servers $(NPM) --prefix engine-stores/tests/servers ci $(NPM_QUIET)
	@touch $@

# All crates at once, so that everything is compiled once: another selection would have other features.
TESTED_CRATES := core fleet isolated packages stores cli kit model node plugins rpc telemetry test-support
# The soaks give these.
CARGO_OPTIONS =
CARGO_TEST = $(CARGO) $(CARGO_OPTIONS) test --no-fail-fast --quiet $(TESTED_CRATES:%=-p maloko-%) --features maloko-node/for-tests
BUILT = $${CARGO_TARGET_DIR:-target}/debug

# More tests at a time than there are cores: many wait for servers, locks and processes.
WAITING ?= 8
RUST_TESTS = RUST_TEST_THREADS=$(WAITING) $(subst --quiet,,$(CARGO_TEST))
STORE_TESTS := objects postgres store
ENGINE_TESTS := $(filter-out $(STORE_TESTS),$(basename $(notdir $(wildcard engine-*/tests/*.rs) $(patsubst %/main.rs,%,$(wildcard engine-*/tests/*/main.rs)))))
test-rust: test-rust-engine test-rust-stores
test-rust-engine:
	$(RUST_TESTS) --lib $(ENGINE_TESTS:%=--test %) -- --quiet
test-rust-stores: $(STAMPS)/test-servers
	$(RUST_TESTS) $(STORE_TESTS:%=--test %) -- --quiet

# cargo-mutants changes one place of a pure decision at a time, and the unit tests of the core have to notice (.cargo/mutants.toml). A shard
# takes an hour at most; which one is by the day of the year, so that all of them come in twelve nights. All at once: make mutants SHARD=0/1,
# some eight hours.
MUTANTS_DIR := $(STAMPS)/mutants
MUTANTS ?= $(addprefix engine-core/src/,autonaming/** diff/** plan/** property_path.rs schedule.rs value.rs value/**)
SHARDS := 12
SHARD ?= $(if $(filter file,$(origin MUTANTS)),$(shell expr $$(date +%j) % $(SHARDS))/$(SHARDS),0/1)
# No mutant of these survived when they were last looked at, so one that does is a failure. Those of the others are listed.
MUTANTS_NONE_LEFT := engine-core/src/diff/reset.rs
mutants: $(CARGO_TOOLS)/cargo-mutants@27.1.0
	@mkdir -p $(MUTANTS_DIR)
	@echo "mutants of shard $(SHARD); again: make $@ SHARD=$(SHARD)"
	env CARGO_TARGET_DIR=$(CURDIR)/$(MUTANTS_DIR)/target $(CURDIR)/$(CARGO_TOOLS)/bin/cargo-mutants mutants -p maloko-core \
		$(foreach files,$(MUTANTS),-f '$(files)') --shard $(SHARD) --output $(MUTANTS_DIR) --colors never || test $$? = 2
	@cd $(MUTANTS_DIR)/mutants.out && failed=$$(grep -cE '^($(subst $(eval ) ,|,$(MUTANTS_NONE_LEFT))):' missed.txt || true); \
		echo "$$(cat missed.txt | wc -l) not noticed: $(MUTANTS_DIR)/mutants.out"; \
		echo "$$(cat caught.txt | wc -l) passed, $$failed failed"; test $$failed = 0

# Generated lifecycles against the engine and the model (docs/internals/model.md); one of them again: make model SEED=1 PROGRAM=17. Those of
# seed 1 exercise every rule.
PROGRAMS ?= 10000
# A sample in which every rule is exercised: the first of seed 1, and a few later ones that exercise what the first do not (`make
# model` names some).
SAMPLE := --programs 200 $(addprefix --and ,273 298 357 441 599 674 681 743 781 833 1129 1442 2112 2694 2707)
# Each bug of engine-model/bugs is planted in a copy of the tree, and a test notices it there (docs/internals/reliability.md).
PLANTED := $(STAMPS)/planted
verify-bugs:
	.ci/plant
	$(PYTHON) conformance/fleets/bugs/plant.py --check
# Each bug of conformance/fleets/bugs is planted in a copy of a fleet package, and the test notices it there that its patch names; some of
# them: make fleet-bugs-python BUGS=heartbeat-forgotten
fleet-bugs-python fleet-bugs-node: fleet-bugs-%: $(STAMPS)/python $(STAMPS)/%
	$(PYTHON) conformance/fleets/bugs/plant.py $* $(BUGS)
# The runs of fleets that the code of workflows is held to (conformance/fleets/README.md), recorded anew: with each version, and where
# before a release something else is decided.
fleet-histories: export MALOKO_LONG = 1
fleet-histories: export MALOKO_RECORD_HISTORIES = 1
fleet-histories: $(STAMPS)/python $(STAMPS)/node
	$(PY) -m pytest -q python-tests/fleets/test_histories.py -k replayed_as_it_went
	cd node-tests && npx vitest run fleets/histories.test.ts -t "replayed as it went"
	$(PY) conformance/fleets/neutral.py conformance/fleets/histories
PLANTED_TEST = cd $(PLANTED) && CARGO_TARGET_DIR=$(CURDIR)/target/planted $(CARGO_TEST) \
	$(foreach crate,core stores cli model test-support,--features maloko-$(crate)/planted-bugs)
model-bugs: $(STAMPS)/test-servers
	.ci/plant $(PLANTED)
	$(PLANTED_TEST) --test planted --test simulation_planted
	$(PLANTED_TEST) planted
model:
	$(CARGO_TEST) --no-run
	$(BUILT)/maloko-model --seed $(SEED) $(if $(PROGRAM),--program $(PROGRAM),--programs $(PROGRAMS) $(if $(filter 1,$(SEED)),--all-rules))
model-sample:
	$(CARGO_TEST) --no-run
	$(BUILT)/maloko-model --seed 1 $(SAMPLE) --all-rules

# The engine in a simulated world, cut off at every edge (docs/internals/simulation.md); `make simulate` repeats one case with its trace.
SERVICE ?= plain
DRIVER ?= loop
SIMULATE = MALOKO_COMMIT=$$(git rev-parse --short HEAD) $(BUILT)/simulate
simulate:
	$(CARGO_TEST) --no-run
	$(SIMULATE) --seed $(SEED) --program $(PROGRAM) --step $(STEP) --store $(STORE) --service $(SERVICE) --driver $(DRIVER) --blow $(BLOW) --point $(POINT) $(if $(AGAIN),--again $(AGAIN))
# The states and journals of this version, for later versions to load.
corpus:
	$(CARGO) run --quiet -p maloko-test-support --example make_corpus engine-test-support/tests/corpus
# Where a stage's failures are to be told at the end, its runner writes them down.
PYTEST_REPORT = $(if $(REPORTS),--durations=10 --junitxml=$(REPORTS)/pytest.xml)
test-python: $(STAMPS)/python $(STAMPS)/node-tests-modules
	@# A worker more than the two cores that are counted on: many tests wait. conftest.py has the longest files first. A worker
	@# that crashes ends the run: in the place of one, pytest-xdist may wait for ever.
	$(PY) -m pytest python-tests -q -n 3 --dist loadfile --no-loadscope-reorder --max-worker-restart 0 \
		$(if $(MALOKO_LONG),-o faulthandler_timeout=7200) $(PYTEST_REPORT)

# The kit, breakpoints and coverage on each Python from 3.10 on that is found, or on those of PYTHONS="python3.10 /opt/...".
# An old Python gets the newest tools that still know it.
PYTHONS ?= python3.10 python3.11 python3.12 python3.13 python3.14
TESTED_ON_EACH_PYTHON := test_kit_coverage test_kit_stack test_kit_faults test_laws
test-python-versions: $(STAMPS)/wheel
	@tried=0; for python in $(PYTHONS); do \
		version=$$($$python -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2> /dev/null) || continue; \
		echo "Python $$version"; venv=$(STAMPS)/pythons/$$version; tried=$$((tried + 1)); \
		test -d $$venv || $$python -m venv $$venv; \
		sed -nE 's/^(coverage|debugpy|hypothesis|pulumi|pytest)==/\1<=/p' requirements-dev.txt | \
			$$venv/bin/python -m pip install --quiet --disable-pip-version-check -r /dev/stdin; \
		$$venv/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(STAMPS)/wheels/maloko-*.whl; \
		$$venv/bin/python -m pytest -q -p no:cacheprovider $(TESTED_ON_EACH_PYTHON:%=python-tests/testing_kit/%.py); \
	done; test $$tried -gt 0 || { echo "none of these was found: $(PYTHONS)" >&2; exit 1; }; echo "test-python-versions: $$tried versions passed"

# The plugins of its tests run in our Python, and a fleet has workers of both languages.
test-node test-node-long: $(STAMPS)/python
# The page brings the compiler that is quick.
test-node: $(STAMPS)/node $(STAMPS)/page-modules
	$(NPM) --prefix node-tests run test:vitest
	$(NPM) --prefix node-tests run test:others
# The npm package beside the tools of other projects: makes the table of docs/reference/installing-beside.md, or compares it.
install-matrix check-install-matrix: $(STAMPS)/npm-package $(STAMPS)/node-tests-modules
	$(PYTHON) .ci/install_matrix.py $(STAMPS)/npm/maloko-*.tgz node-tests/node_modules/@yarnpkg/cli-dist/bin/yarn.js $(STAMPS)/install-matrix $(if $(findstring check,$@),--check)
test-node-long: $(STAMPS)/node
	$(NPM) --prefix node-tests run test:long

# Debuggers, coverage and the testing kit in both of vitest's pools, under the newest of each Node that is supported. The
# binaries are those of the npm package `node`.
NODE_VERSIONS ?= 20 22 24
test-node-versions: $(STAMPS)/node $(foreach version,$(NODE_VERSIONS),$(STAMPS)/node-$(version)/stamp)
	cd node-tests && for version in $(NODE_VERSIONS); do for pool in forks threads; do \
		../$(STAMPS)/node-$$version/node_modules/node/bin/node node_modules/vitest/vitest.mjs run --pool $$pool kit_coverage kit_stack kit_faults || exit 1; \
	done; done
$(STAMPS)/node-%/stamp: | $(STAMPS)/tools-checked
	$(NPM) install --prefix $(@D) --no-save $(NPM_QUIET) node@$*
	@touch $@

# What comes of misbehaving providers, for docs/internals/hostile-providers.md; and 200 times loaded and unloaded.
hostile-table: $(STAMPS)/python $(STAMPS)/node
	-MALOKO_LONG=1 MALOKO_HOSTILE_SEEN=$(CURDIR)/$(STAMPS)/hostile-python.json $(PY) -m pytest python-tests/hostile/test_hostile.py -q
	-cd node-tests && MALOKO_LONG=1 MALOKO_HOSTILE_SEEN=$(CURDIR)/$(STAMPS)/hostile-nodejs.json npx vitest run hostile/hostile.test.ts
	$(PY) python-tests/hostile/document.py $(STAMPS)/hostile-python.json $(STAMPS)/hostile-nodejs.json

# How each language's command line is called, and the oldest SDKs'.
IN_VENV := PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY)
LANGUAGE_python := python
LANGUAGE_node := nodejs
RUN_python = $(IN_VENV)
RUN_node = $(PYTHON)
RUN_oldest-python = PATH="$(CURDIR)/$(STAMPS)/oldest-venv/bin:$$PATH" $(PY)
RUN_oldest-node = $(PYTHON)
ON_python = --cli $(MALOKO_PY) --lang python
ON_node = --cli $(MALOKO_JS) --lang nodejs --node-modules node-tests/node_modules
ON_oldest-python = --cli $(CURDIR)/$(STAMPS)/oldest-venv/bin/maloko --lang python
ON_oldest-node = --cli $(CURDIR)/$(STAMPS)/oldest-node-tree/node_modules/.bin/maloko --lang nodejs --node-modules $(STAMPS)/oldest-node-tree/node_modules

# The cases that must pass stand in conformance/pass-LANGUAGE.txt; `make conformance-python CASES='cases/x.json'` runs others.
cases = $(or $(CASES),$(addprefix conformance/cases/,$(addsuffix .json,$(shell sed 's/\#.*//' $(1)))))
CASES_python = $(call cases,conformance/pass-python.txt)
# In Node every third one by day: the same Rust answers both languages.
CASES_node = $(if $(CASES)$(MALOKO_LONG),$(call cases,conformance/pass-nodejs.txt),$(shell sed 's/\#.*//' conformance/pass-nodejs.txt | awk 'NF && n++ % 3 == 0 {print "conformance/cases/" $$1 ".json"}'))
JOBS ?= 2
# Every case runs in a process that has run others. In Python, where it is quicker, the steps of lifecycle-* are processes of the command
# line. With PROCESSES=--processes so is each step of each case, and secrets need a passphrase.
PROCESSES ?=
WARM_node := --warm
# What the oldest SDKs run: the command line, the library, components, configuration and secrets. OLDEST=all: every lifecycle.
OLDEST ?= lifecycle-basic component-tree secret-config
lifecycles = $(notdir $(basename $(wildcard conformance/cases/lifecycle-*.json)))
CASES_oldest-python = $(patsubst %,conformance/cases/%.json,$(if $(filter all,$(OLDEST)),$(lifecycles) component-tree secret-config,$(OLDEST)))
CASES_oldest-node = $(CASES_oldest-python)

conformance-python conformance-node conformance-oldest-python conformance-oldest-node: conformance-%: $(STAMPS)/%
	$(RUN_$*) conformance/run.py $(ON_$*) --jobs $(JOBS) $(or $(PROCESSES),$(WARM_$*)) $(CASES_$*)
# A state that the reference engine wrote is adopted without a change, then updated.
adoption-python adoption-node: adoption-%: $(STAMPS)/%
	$(RUN_$*) conformance/adopt.py $(ON_$*)

# The stories with provider plugins that must pass: of each language those that conformance/plugins/pass.txt gives it; with CASES=all, as
# at night, all of them. The plugins run in our Python, whatever runs the program.
plugin_cases = $(or $(filter-out all,$(CASES)),--must-pass $(or $(CASES),$(if $(MALOKO_LONG),all,$(1))))
conformance-plugins-python conformance-plugins-node: conformance-plugins-%: $(STAMPS)/% $(STAMPS)/venv $(STAMPS)/node-tests-modules
	$(IN_VENV) conformance/plugins/run.py check $(ON_$*) --node-modules node-tests/node_modules $(call plugin_cases,$(LANGUAGE_$*))

# What came of each method of the official Automation API, as docs/reference/automation-table.md has it.
AUTOMATION_TABLE := docs/reference/automation-table.md
automation-table check-automation-table: $(STAMPS)/python $(STAMPS)/node
	$(PY) conformance/automation/table.py $(AUTOMATION_TABLE) $(if $(filter check-%,$@),--check)

# The same of policy packs.
POLICY_TABLE := docs/reference/policy-table.md
policy-table check-policy-table: $(STAMPS)/python $(STAMPS)/node
	$(PY) conformance/policies/table.py $(POLICY_TABLE) $(if $(filter check-%,$@),--check)

# Plugins that are not ours, and the real `pulumi`: built from Go modules into REAL_PLUGINS, then the recorded case that needs them, and both
# tools in turns on one stack. Needs Go and its module proxy; the first build takes two cores a quarter of an hour.
REAL_PLUGINS ?= $(CURDIR)/$(STAMPS)/real
REAL_SDKS := random@4.21.2 command@1.2.1 tls@5.6.1 kubernetes@4.25.0
real-plugins: $(STAMPS)/venv
	$(PY) conformance/plugins/real.py $(REAL_PLUGINS) random tls command terraform-provider terraform hosts pulumi yaml go-program
# By itself, for its build takes longer than all others: half an hour to an hour.
real-kubernetes: $(STAMPS)/venv
	$(PY) conformance/plugins/real.py $(REAL_PLUGINS) hosts pulumi kubernetes
# Programs in YAML and Go with their real host and SDK. `make test` leaves them out: their build takes ten minutes.
try-languages: $(STAMPS)/python
	$(PY) conformance/plugins/real.py $(REAL_PLUGINS) pulumi yaml go-program
	$(IN_VENV) conformance/plugins/languages.py $(REAL_PLUGINS) --cli $(MALOKO_PY)
# Both tools in turns on stacks under key services.
try-keys: $(STAMPS)/python
	$(PY) conformance/plugins/real.py $(REAL_PLUGINS) hosts pulumi
	$(IN_VENV) conformance/plugins/key_turns.py $(REAL_PLUGINS) --cli $(MALOKO_PY)
# The suites lie in Go's cache, beside what the programs in Go are built from.
try-official-suite: $(STAMPS)/python $(STAMPS)/node
	$(PY) conformance/plugins/real.py $(REAL_PLUGINS) hosts pulumi go-program
	$(IN_VENV) conformance/plugins/official_suite.py $(REAL_PLUGINS) python --cli $(MALOKO_PY)
	$(IN_VENV) conformance/plugins/official_suite.py $(REAL_PLUGINS) nodejs --cli $(MALOKO_JS)
try-sdks: $(STAMPS)/python $(STAMPS)/node
	$(PY) conformance/plugins/real.py $(REAL_PLUGINS) random tls command codegen
	$(IN_VENV) conformance/plugins/sdks.py $(REAL_PLUGINS) --python $(MALOKO_PY) --node $(MALOKO_JS)
# The SDKs, and what they import that our environment lacks.
REAL_SDKS_python := $(CURDIR)/$(STAMPS)/real-python
real-sdks-python: $(STAMPS)/venv
	$(VENV)/bin/uv pip install --quiet --target $(REAL_SDKS_python) --no-deps $(foreach sdk,$(REAL_SDKS),pulumi_$(subst @,==,$(sdk))) parver==1.0.1.post0
REAL_SDKS_node := $(CURDIR)/$(STAMPS)/real-node/node_modules
real-sdks-node: $(STAMPS)/node
	mkdir -p $(STAMPS)/real-node
	echo '{"name":"real","private":true}' > $(STAMPS)/real-node/package.json
	cd $(STAMPS)/real-node && $(NPM) install $(NPM_QUIET) typescript@5 ts-node@10 ../npm/maloko-*.tgz @pulumi/pulumi@$(shell node -p "require('./node-tests/node_modules/@pulumi/pulumi/package.json').version") $(addprefix @pulumi/,$(REAL_SDKS))
REAL_RUN_python := PYTHONPATH=$(REAL_SDKS_python) REAL_PLUGINS=$(REAL_PLUGINS) $(IN_VENV)
REAL_RUN_node := REAL_PLUGINS=$(REAL_PLUGINS) $(IN_VENV)
REAL_ON_python := $(ON_python)
REAL_ON_node := --cli $(REAL_SDKS_node)/.bin/maloko --lang nodejs --node-modules $(REAL_SDKS_node)
try-real-plugins-python: $(STAMPS)/python $(STAMPS)/node-tests-modules
try-real-plugins-python try-real-plugins-node: try-real-plugins-%: real-plugins real-sdks-%
	$(REAL_RUN_$*) conformance/plugins/run.py check --node-modules node-tests/node_modules $(REAL_ON_$*) 01-mixed
	$(REAL_RUN_$*) conformance/plugins/turns.py $(REAL_PLUGINS) $(REAL_ON_$*)
	$(REAL_RUN_$*) conformance/plugins/bridged.py $(REAL_PLUGINS) $(REAL_ON_$*)
# Kubernetes without a cluster: its resources become YAML in a folder.
try-kubernetes-python: $(STAMPS)/python
try-kubernetes-python try-kubernetes-node: try-kubernetes-%: real-kubernetes real-sdks-%
	$(REAL_RUN_$*) conformance/plugins/kubernetes_turns.py $(REAL_PLUGINS) $(REAL_ON_$*)

$(STAMPS)/oldest-python: $(STAMPS)/wheel
	$(call new_venv,$(STAMPS)/oldest-venv)
	$(call into_venv,$(STAMPS)/oldest-venv,pulumi==$(OLDEST_PULUMI_PYTHON))
	$(VENV)/bin/uv pip install --quiet --python $(STAMPS)/oldest-venv/bin/python --reinstall --no-deps $(STAMPS)/wheels/maloko-*.whl
	@touch $@

$(STAMPS)/oldest-node-modules: Makefile | $(STAMPS)/tools-checked
	mkdir -p $(STAMPS)/oldest-node-tree
	echo '{"private":true,"dependencies":{"@pulumi/pulumi":"$(OLDEST_PULUMI_NODE)","typescript":"5","@types/node":"20"}}' > $(STAMPS)/oldest-node-tree/package.json
	$(MODULES) $(STAMPS)/oldest-node-tree $(NPM) --prefix $(STAMPS)/oldest-node-tree install --no-package-lock $(NPM_QUIET)
	@touch $@
$(STAMPS)/oldest-node: $(STAMPS)/npm-package $(STAMPS)/oldest-node-modules
	cd $(STAMPS)/oldest-node-tree && $(NPM) install --no-save --no-package-lock $(NPM_QUIET) ../npm/maloko-*.tgz
	@touch $@

# The examples' own packages, which their plugins use as well; each project and plugin could also be installed by itself.
$(STAMPS)/examples-python: examples/python/requirements.txt $(STAMPS)/python
	$(PIP) -r examples/python/requirements.txt
	test -e examples/plugins/vault/venv || ln -sfn ../../../$(VENV) examples/plugins/vault/venv
	@touch $@

$(STAMPS)/examples-node-modules: examples/typescript/package.json examples/typescript/package-lock.json $(wildcard examples/typescript/*/package.json) | $(STAMPS)/tools-checked
	$(MODULES) examples/typescript $(NPM) --prefix examples/typescript ci $(NPM_QUIET)
	@touch $@
$(STAMPS)/examples-node: $(STAMPS)/examples-node-modules $(STAMPS)/npm-package
	cd examples/typescript && $(NPM) install --no-save $(NPM_QUIET) ../../$(STAMPS)/npm/maloko-*.tgz
	test -e examples/plugins/team/node_modules || ln -sfn ../../typescript/node_modules examples/plugins/team/node_modules
	@touch $@

test-examples: build $(STAMPS)/examples-python $(STAMPS)/examples-node
	$(PY) -m pytest examples/tests -q -n 2 $(PYTEST_REPORT)

KILLS ?= 50
KILL_STORE ?= directory
# How many at a time: over a server each waits for half a minute of silence of the one that was killed.
KILL_JOBS ?= $(if $(filter directory,$(KILL_STORE)),1,8)
SEED ?= 1
kill-sample-%: KILLS := 2
kill-sample-%: PLUGIN_KILLS := 1
kill-sample-python kill-sample-node: kill-sample-%: kill-plugins-% kill-%
kill-python kill-node: kill-%: $(STAMPS)/examples-python $(STAMPS)/examples-%
	$(PY) -m examples.kill.run --lang $(LANGUAGE_$*) --kills $(KILLS) --seed $(SEED) --store $(KILL_STORE) --jobs $(KILL_JOBS)
# The same with resources that a plugin makes, and with provider resources that are replaced.
PLUGIN_KILLS = $(KILLS)
kill-plugins-python kill-plugins-node: kill-plugins-%: $(STAMPS)/examples-python $(STAMPS)/examples-%
	$(PY) -m examples.kill.plugins --lang $(LANGUAGE_$*) --kills $(PLUGIN_KILLS) --seed $(SEED)

# Real SIGKILLs at each named point of the journal's life.
POINT_STORES ?= directory s3 postgres
kill-points:
	@# Whatever else is made: a release knows no points.
	@$(MAKE) --no-print-directory build PROFILE=dev
	for store in $(POINT_STORES); do for language in python nodejs; do \
		$(PY) -m examples.kill.points --lang $$language --store $$store --jobs 4; \
	done; done

# ---------------------------------------------------------------------------------------------------------------------
# Documents, demo and bench

# The site, from docs/ alone. Strict: a dead link or anchor, a page that no menu has, or one that asks another host, is an error.
docs: $(STAMPS)/docs-tools
	NO_MKDOCS_2_WARNING=1 $(STAMPS)/docs-venv/bin/mkdocs build --strict --clean
$(STAMPS)/docs-tools: requirements-docs.txt | $(STAMPS)/venv
	$(call new_venv,$(STAMPS)/docs-venv)
	$(call into_venv,$(STAMPS)/docs-venv,-r requirements-docs.txt)
	@touch $@

pictures: $(STAMPS)/python
	$(PY) docs/pictures/make.py

# A newcomer's first command: what is downloaded comes beside what is compiled, on a build of its own that is not optimised. Each binding
# has its cargo call, for maturin and napi set variables of their own; they share all that they depend on, so the second one takes seconds.
DEMO_MAKE = $(MAKE) PROFILE=$(PROFILE) --no-print-directory -j4 --output-sync=target
demo: | $(STAMPS)/tools-checked
	@echo "demo, 1 of 3: what both languages need is downloaded, and the engine is compiled beside it (two to four minutes on two cores)"
	@$(DEMO_MAKE) $(STAMPS)/wheel $(STAMPS)/npm-package $(STAMPS)/examples-node-modules > $(STAMPS)/demo.log || { cat $(STAMPS)/demo.log; exit 1; }
	@echo "demo, 2 of 3: maloko is installed for both"
	@$(DEMO_MAKE) $(STAMPS)/examples-python $(STAMPS)/examples-node > $(STAMPS)/demo.log || { cat $(STAMPS)/demo.log; exit 1; }
	@echo "demo, 3 of 3: the examples"
	@$(PY) -m examples.demo

bench: build
	$(PY) bench/run.py --write docs/internals/performance.md
	$(PY) bench/border.py
# The engine without a host language: 100,000 resources (criterion).
bench-engine:
	$(CARGO) bench -p maloko-test-support
# What the testing kits cost, and what the journal costs.
bench-kit: build
	$(PY) bench/kit.py
	$(PY) bench/journal.py
	cd node-tests && $(NODE) ../bench/journal.cjs
# Programs whose resources a plugin serves, and the plugin.
bench-plugins: build
	$(PY) bench/plugins.py
# Each kind of store, with the engine over it: flushes, requests and bytes for each resource, from 100 to 10,000.
bench-backends: $(STAMPS)/test-servers
	$(CARGO) bench -p maloko-stores --bench backends

# ---------------------------------------------------------------------------------------------------------------------
# Verify

verify: verify-rust verify-python verify-node verify-page verify-rules verify-prose types-fresh protos-fresh audit-own verify-bugs
	@echo "make verify: clean"

# A database that does not answer is a failure: nothing was checked.
audit:
	@$(MAKE) --no-print-directory --keep-going audit-own audit-crates audit-python audit-npm
audit-own:
	.ci/connections
audit-crates: $(CARGO_TOOLS)/cargo-deny@0.20.2
	$(CARGO_TOOLS)/bin/cargo-deny --all-features check
audit-python: $(STAMPS)/venv
	$(VENV)/bin/uvx --quiet pip-audit@2.10.1 --requirement requirements-dev.txt --progress-spinner off
audit-npm:
	$(NPM) --prefix node-binding audit --omit=dev
# The core's state under the address sanitizer, where a nightly toolchain is installed.
sanitize:
	RUSTFLAGS=-Zsanitizer=address $(CARGO) +nightly test --quiet -p maloko-core --lib --target $$(rustc -vV | sed -n 's/^host: //p') --target-dir target/sanitize -- state:: redaction::

# Where clippy compiles our crates for the tests (.ci/run), it has looked at them, and the rest is compiled here.
verify-rust:
	$(CARGO) fmt --all --check
	$(if $(RUSTC_WORKSPACE_WRAPPER),$(CARGO_TEST) --no-run --benches --examples,$(CARGO) clippy --quiet --workspace --all-targets -- -D warnings)

MYPY_EXAMPLE = $(CURDIR)/$(VENV)/bin/mypy --config-file= --strict --python-version 3.10 --cache-dir $(or $(MYPY_CACHE_DIR),$(CURDIR)/.mypy_cache)/examples
verify-python: $(STAMPS)/examples-python
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	PYTHONPATH=py-binding/python $(VENV)/bin/lint-imports --no-cache --no-logo
	@# One cache for all of them: what they import is read once.
	for example in examples/python/*/; do (cd $$example && $(MYPY_EXAMPLE) --explicit-package-bases .); done
	cd examples/plugins/vault && $(MYPY_EXAMPLE) __main__.py

# Every test that the tables of docs/rules name is there, each test has its twin in the other language, no duty of a crate depends on
# itself by way of others, names are those of the glossary, and both testing kits have the same members.
verify-rules:
	$(PYTHON) .ci/module_graph.py
	$(PYTHON) .ci/folders.py
	$(PYTHON) docs/rules/check.py
	$(PYTHON) .ci/twins.py
	$(PYTHON) .ci/names.py
	$(PYTHON) .ci/kits.py

# Links lead somewhere; no word that the glossary replaces, no sentence that has to be read twice.
TEXTLINT := node_modules/.bin/textlint --config $(CURDIR)/.ci/prose/textlintrc.js
LINKS := ./$(STAMPS)/prose/node_modules/remark-validate-links/index.js=repository:false
verify-prose: $(STAMPS)/prose/made
	@# The topics are links to documents, and what these name is not beside them.
	$(STAMPS)/prose/node_modules/.bin/remark --frail --quiet --no-stdout --use $(LINKS) $$(git ls-files -co --exclude-standard '*.md' ':!engine-cli/topics')
	@# Where its rules are installed: it finds them from there alone.
	cd $(STAMPS)/prose && MALOKO_ROOT=$(CURDIR) $(TEXTLINT) $(foreach read,docs README.md CONTRIBUTING.md SECURITY.md,$(CURDIR)/$(read))
$(STAMPS)/prose/made: .ci/prose/package.json .ci/prose/package-lock.json | $(STAMPS)/tools-checked
	mkdir -p $(@D) && cp .ci/prose/package.json .ci/prose/package-lock.json $(@D)
	$(MODULES) $(@D) $(NPM) --prefix $(@D) ci $(NPM_QUIET)
	@touch $@

verify-node: $(STAMPS)/node $(STAMPS)/node-binding-modules $(STAMPS)/examples-node check-types-node-binding check-types-node-tests check-types-examples
	$(NPM) --prefix node-binding run --silent lint
	$(NPM) --prefix node-tests run --silent lint

# TypeScript 7, which the page brings, checks in a tenth of the time. What is shipped is compiled by version 5, which checks it, too, and is
# what programs load.
TSC := $(CURDIR)/page/node_modules/.bin/tsc
EXAMPLES_TS := $(patsubst %/tsconfig.json,%,$(wildcard examples/typescript/*/tsconfig.json)) examples/plugins/team
check-types-node-binding: $(STAMPS)/page-modules $(STAMPS)/node-binding-modules
	$(TSC) -p node-binding --noEmit
check-types-node-tests: $(STAMPS)/page-modules $(STAMPS)/node
	$(TSC) -p node-tests
	$(TSC) -p node-tests/testing_kit/kit-samples/tsconfig.jest.json
check-types-examples: $(STAMPS)/page-modules $(STAMPS)/examples-node
	for example in $(EXAMPLES_TS); do $(TSC) -p $$example || exit 1; done

# Rewrites the committed .pyi and .d.ts from the bindings (the .d.ts is written by the build itself); stale ones fail the second target.
types: build
	rm -rf $(STAMPS)/stubs
	cd py-binding && ../$(VENV)/bin/maturin generate-stubs --quiet --profile $(PROFILE) $(FOR_TESTS) --out ../$(STAMPS)/stubs
	@# A file that is as it was stays as old as it was: otherwise the wheel would be built once more.
	cmp -s $(STAMPS)/stubs/maloko/_maloko.pyi py-binding/python/maloko/_maloko.pyi || cp $(STAMPS)/stubs/maloko/_maloko.pyi py-binding/python/maloko/_maloko.pyi
types-fresh: types
	@git diff --exit-code -- '*.pyi' '*.d.ts' '*.d.cts' || { echo "generated types are stale: run make types and commit" >&2; exit 1; }

# Rewrites the committed Rust types of the messages from engine-core/proto; stale ones fail the second target.
PROTOS := engine-core/proto
MESSAGES := engine-core/src/wire/generated
protos: | $(STAMPS)
	@# Made beside: who formats or compiles them meanwhile must see them whole, and no newer than they are.
	rm -rf $(STAMPS)/messages && mkdir $(STAMPS)/messages
	$(CARGO) run --quiet -p maloko-proto -- $(PROTOS) $(STAMPS)/messages
	rustfmt --edition 2024 $(STAMPS)/messages/*.rs
	@for made in $(STAMPS)/messages/*.rs; do \
		kept=$(MESSAGES)/$${made##*/}; cmp -s $$made $$kept || cp $$made $$kept; \
	done
	sha256sum $(MADE_MESSAGES) > $(PROTOS)/made.sha256
# What they are made of, and what was made. Where all of it is as it was, the tools need not be compiled: with newer ones the night makes
# them again.
MADE_MESSAGES = $$(git ls-files '$(PROTOS)/*.proto' $(PROTOS)/generator) $(MESSAGES)/*.rs
protos-fresh:
	@sha256sum --check --status $(PROTOS)/made.sha256 || $(MAKE) --no-print-directory protos
	@$(MESSAGES_ARE_COMMITTED)
protos-again: protos
	@$(MESSAGES_ARE_COMMITTED)
MESSAGES_ARE_COMMITTED = git diff --exit-code -- $(MESSAGES) $(PROTOS) || { echo "generated messages are stale: run make protos and commit" >&2; exit 1; }

clean:
	rm -rf $(STAMPS) $(VENV) node-tests/node_modules node-binding/node_modules examples/typescript/node_modules page/node_modules page/dist

# What takes hours: make nightly, make soak.
include .ci/nightly.mk
