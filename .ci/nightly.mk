# The full form of everything, in parts of at most an hour on two cores; each ends with its own `N passed, N failed`, and
# docs/internals/how-maloko-is-tested.md says which promise each proves.
# `make nightly` runs every part to its end, `make nightly-PART` one of them.

NIGHTLY := python node rust release minutes kills points points-s3 points-postgres damage races postgres stores hostile mutants model fuzz install

NIGHTLY_python := test-python conformance-python conformance-plugins-python conformance-oldest-python adoption-python fleet-bugs-python
NIGHTLY_node := test-node-long test-page conformance-node conformance-plugins-node conformance-oldest-node adoption-node check-automation-table check-policy-table fleet-bugs-node
NIGHTLY_rust := model-bugs model soak-simulation protos-again
NIGHTLY_release := build smoke test-examples
NIGHTLY_minutes := soak-minutes
NIGHTLY_kills := kill kill-plugins
NIGHTLY_points := kill-points
NIGHTLY_points-s3 := kill-points
NIGHTLY_points-postgres := kill-points
NIGHTLY_damage := soak-damage soak-disks soak-commands
NIGHTLY_races := soak-races
NIGHTLY_postgres := soak-postgres
NIGHTLY_stores := soak-stores
NIGHTLY_hostile := soak-hostile
NIGHTLY_mutants := mutants
NIGHTLY_model := soak-model
NIGHTLY_fuzz := soak-fuzz
NIGHTLY_install := check-install-matrix

# What is asked of each part, so that it takes an hour at most; other numbers by the same names (make nightly-stores RACES=200).
nightly-python nightly-node nightly-release: export MALOKO_LONG = 1
nightly-python nightly-node: export PROCESSES := --processes
nightly-python nightly-node: export OLDEST := all
nightly-release: export PROFILE = release
nightly-points: export POINT_STORES = directory
nightly-points-s3: export POINT_STORES = s3
nightly-points-postgres: export POINT_STORES = postgres
nightly-postgres: export RACES := 5000
nightly-stores: export RACES := 1500
nightly-model: export LIFECYCLES := 300000
nightly-fuzz: export FUZZ_SECONDS := 1200
nightly-%: export LONGEST_STAGE := 7200

.PHONY: $(NIGHTLY:%=nightly-%)
nightly:
	@failed=; for part in $(NIGHTLY); do \
		echo; echo "==== nightly-$$part"; $(MAKE) --no-print-directory nightly-$$part || failed="$$failed nightly-$$part"; \
	done; test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }; echo "make nightly: $(words $(NIGHTLY)) parts passed"
$(NIGHTLY:%=nightly-%): nightly-%: | $(STAMPS)/tools-checked
	@$(PYTHON) .ci/stages.py --first $(NIGHTLY_$*)

# A look at each suite: the command line, the engine in process and the testing kit, in each language, and a recorded story.
smoke: $(STAMPS)/python $(STAMPS)/node
	$(PY) -m pytest -q $(PYTEST_REPORT) $(addprefix python-tests/,providers/test_results.py command_line/test_cli.py testing_kit/test_kit_stack.py automation/test_automation.py)
	cd node-tests && npx vitest run results.test cli.test kit_stack automation.test
	$(MAKE) --no-print-directory conformance-python conformance-node CASES="$(wildcard conformance/cases/lifecycle-*.json)"

# The long forms of the tests of reliability (docs/internals/reliability.md), with no bound but their numbers: many hours.
soak: soak-minutes soak-simulation soak-damage soak-disks soak-commands soak-races soak-postgres soak-stores soak-hostile soak-fleets kill-points soak-model soak-fuzz
RACES ?= 10000
LIFECYCLES ?= 1000000
FUZZ_SECONDS ?= 3600
# Built with optimisation, in a place of its own: minutes to compile, hours less to run.
soak-model soak-simulation soak-fuzz: export CARGO_PROFILE_DEV_OPT_LEVEL = 3
soak-model soak-simulation soak-fuzz: CARGO_OPTIONS = $(foreach crate,core stores cli kit model,--config profile.dev.package.maloko-$(crate).opt-level=3)
soak-model soak-simulation soak-fuzz: export CARGO_TARGET_DIR = target/soak
soak-damage:
	DAMAGE_SEED=$(SEED) DAMAGE_FLIPS=100000 DAMAGE_EVERY=1 $(CARGO_TEST) --test store -- --nocapture damage
soak-disks:
	DISK_ERRORS=6 $(CARGO_TEST) --test store -- --nocapture disks
# Commands that change whole stacks, killed before each change of the disk, and not before every 27th.
soak-commands:
	KILL_EACH=1 $(CARGO_TEST) --test operations killed
soak-races:
	RACE_SEED=$(SEED) RACES=$(RACES) TAKEOVERS=300 $(CARGO_TEST) --test store -- --nocapture processes
# Races for one stack in each kind of object store; and every case of the suite in one without conditional writes.
soak-stores: $(STAMPS)/test-servers
	MALOKO_RACES=$(RACES) $(CARGO_TEST) --test objects races
	MALOKO_EVERY_CASE=1 $(CARGO_TEST) --test objects conformance
soak-postgres:
	RACES=$(RACES) $(CARGO_TEST) --test postgres
soak-hostile: $(STAMPS)/python $(STAMPS)/node
	MALOKO_LONG=1 MALOKO_CYCLES=200 $(PY) -m pytest python-tests/hostile -q $(PYTEST_REPORT)
	cd node-tests && MALOKO_LONG=1 MALOKO_CYCLES=200 npx vitest run hostile
# A run of a fleet whose workers are killed again and again; the nights of both languages have it with 1,200 stacks and 24 kills.
FLEET_STACKS ?= 10000
FLEET_KILLS ?= 400
soak-fleets: export MALOKO_FLEET_STACKS = $(FLEET_STACKS)
soak-fleets: export MALOKO_FLEET_KILLS = $(FLEET_KILLS)
soak-fleets: $(STAMPS)/python $(STAMPS)/node
	MALOKO_LONG=1 $(PY) -m pytest python-tests/fleets -k thousand -q -o faulthandler_timeout=0 $(PYTEST_REPORT)
	cd node-tests && MALOKO_LONG=1 npx vitest run fleet_soak
soak-minutes: $(STAMPS)/python
	$(PY) conformance/plugins/real.py $(REAL_PLUGINS) command
	$(IN_VENV) conformance/plugins/minutes.py $(REAL_PLUGINS) --cli $(MALOKO_PY)
soak-model: PROGRAMS = $(LIFECYCLES)
soak-model: model
soak-simulation:
	$(CARGO_TEST) --no-run
	$(SIMULATE) --seed $(SEED) --programs 40
soak-fuzz:
	FUZZ_SEED=$(SEED) FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO_TEST) --test fuzz -- --nocapture
	FUZZ_SEED=$(SEED) FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO_TEST) --lib fuzz -- --nocapture
