# SPDX-License-Identifier: Apache-2.0
# Each target does all its own set-up, on a machine with git, make and python3.11 or newer.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
CLOUD_DIR ?= $(CURDIR)/.cloud
WORKERS ?= 2
# How often each race for the last resource is run on MariaDB and PostgreSQL.
ROUNDS ?= 100

.PHONY: run demo test proofs check cloud cloud-bench cloud-test cloud-test-compute \
	cloud-test-services cloud-down cloud-down-services databases databases-down db-test \
	db-test-short eventlet-test eventlet-test-short cloudkitty-test horizon-test ironic-test faults faults-short faults-long bench bench-short bench-long flame docs samples tox audit-dependencies clean

# The service itself, and what its tests, its linters and its docs need. Until it was named
# openstack-climate, the distribution was "climate": two of them would double each entry point.
$(VENV)/.run: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip uninstall -qqq --yes climate
	rm -rf climate.egg-info
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[service]'
	touch $@

$(VENV)/.test: $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[service,test,eventlet]'
	touch $@

$(VENV)/.check: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[service,test,lint,docs]'
	touch $@

$(VENV)/.bench: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[service,test,bench]'
	touch $@

# The versions are those that PyPI has; only CloudKitty's own is what the page on billing names.
$(VENV)-cloudkitty/.made: Makefile
	$(PYTHON) -m venv $(VENV)-cloudkitty
	$(VENV)-cloudkitty/bin/python -m pip install --quiet --disable-pip-version-check \
		cloudkitty==25.0.0 PyMySQL
	touch $@

# The first installation takes two minutes; later ones none.
$(VENV)-ironic/.made: Makefile
	$(PYTHON) -m venv $(VENV)-ironic
	$(VENV)-ironic/bin/python -m pip install --quiet --disable-pip-version-check \
		ironic==39.0.0 sushy==5.14.0
	touch $@

# Horizon has other versions of what Climate needs. Keystone is there for the logins.
$(VENV)-horizon/.made: Makefile
	$(PYTHON) -m venv $(VENV)-horizon
	$(VENV)-horizon/bin/python -m pip install --quiet --disable-pip-version-check \
		horizon==27.0.0 blazar-dashboard==16.0.0 keystone==30.0.0 waitress==3.0.2
	touch $@

$(VENV)-tox/.made: constraints.txt
	$(PYTHON) -m venv $(VENV)-tox
	$(VENV)-tox/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt tox
	touch $@

run: $(VENV)/.run  ## The service on SQLite and a simulated cloud, until Ctrl-C.
	$(BIN)/climate-standalone

demo: $(VENV)/.run  ## Whole leases, played in front of you.
	$(BIN)/python -m tools.demo

test: $(VENV)/.test  ## The quick suite, in at most 5 minutes.
	$(BIN)/python -m pytest -n $(WORKERS)

proofs: $(VENV)/.test  ## What is too slow for it: every crash of every story, long races and lines.
	CLIMATE_RACE_ROUNDS=3 $(BIN)/python -m pytest -n $(WORKERS) -m 'proof and not faults'

check: $(VENV)/.check  ## Lint, types, architecture, samples, docs, weaknesses where PyPI can be asked.
	$(BIN)/ruff check .
	$(BIN)/flake8 climate tests tools benchmarks
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_architecture.py
	tools/samples.sh --check
	shellcheck devstack/plugin.sh devstack/settings tools/*.sh .ci/run
	$(BIN)/sphinx-build -q -W -b html doc/source doc/build/html
	$(PYTHON) -m tools.weaknesses --if-reachable --venv $(VENV)-audit

# CI makes but one of them, for its time.
tox: ENVIRONMENTS ?= ALL

tox: $(VENV)-tox/.made  ## Can every environment of tox.ini be made? One is run.
	PIP_NO_COMPILE=1 $(VENV)-tox/bin/tox run --quiet --workdir build/tox --notest -e $(ENVIRONMENTS)
	$(VENV)-tox/bin/tox run --quiet --workdir build/tox -e py3 -- -n 0 tests/unit/test_extras.py
	rm -rf build/tox

samples: $(VENV)/.check  ## Write etc/climate/*.sample anew.
	tools/samples.sh

docs: $(VENV)/.check
	$(BIN)/sphinx-build -q -W -b html doc/source doc/build/html

audit-dependencies:  ## Are weaknesses known of the versions in constraints.txt? Asks PyPI itself.
	$(PYTHON) -m tools.weaknesses --venv $(VENV)-audit

databases:  ## MariaDB and PostgreSQL of our own, on loopback.
	$(PYTHON) -m tools.databases up

databases-down:
	$(PYTHON) -m tools.databases down

db-test: TESTS = -m 'not faults' tests/functional
# Where the SQL itself is tested, and where several write at once.
db-test-short: ROUNDS = 5
db-test-short: TESTS = tests/functional/db $(wildcard tests/functional/test_*races.py) \
	$(wildcard $(addprefix tests/functional/manager/test_,*races.py bill*.py bound.py claims.py \
		delivery.py lock*.py offers.py outbox*.py usage_report.py wakeups*.py))

db-test:  ## The functional tests on MariaDB and on PostgreSQL, at once.
db-test-short:  ## Those of them about SQL and about races, as in CI.

db-test db-test-short: $(VENV)/.test databases
	$(MAKE) --jobs=2 --output-sync=target --no-print-directory \
		TESTS="$(TESTS)" ROUNDS=$(ROUNDS) db-test-on-mariadb db-test-on-postgresql

db-test-on-%: $(VENV)/.test
	CLIMATE_TEST_DATABASE=$$($(PYTHON) -m tools.databases url $*) CLIMATE_RACE_ROUNDS=$(ROUNDS) \
		$(BIN)/python -m pytest $(TESTS)

cloudkitty-test: $(VENV)/.test $(VENV)-cloudkitty/.made  ## Does a real CloudKitty charge the same?
	$(PYTHON) -m tools.databases up mariadb
	CLOUDKITTY_BIN=$(abspath $(VENV)-cloudkitty/bin) \
		CLOUDKITTY_DATABASE=$$($(PYTHON) -m tools.databases url mariadb) \
		$(BIN)/python -m pytest tests/cloudkitty

ironic-test: $(VENV)/.test $(VENV)-ironic/.made  ## Does a real Ironic switch nodes for Climate?
	IRONIC_BIN=$(abspath $(VENV)-ironic/bin) $(BIN)/python -m pytest tests/ironic

horizon-test: $(VENV)/.test $(VENV)-horizon/.made  ## Does Horizon's plugin for leases work with Climate?
	HORIZON_BIN=$(abspath $(VENV)-horizon/bin) CLIMATE_PICTURES=build/horizon \
		$(BIN)/python -m pytest tests/horizon

console-pictures: export CLIMATE_PICTURES = doc/source/user/console

console-pictures: console-test  ## The pictures of the user guide, made anew by the same tests.

console-test: $(VENV)/.test  ## The console in a real Chromium.
	$(BIN)/python -m pytest tests/console

eventlet-test: TESTS = tests/functional/manager
eventlet-test-short: TESTS = $(wildcard $(addprefix tests/functional/manager/test_,*races.py \
	claims.py delivery*.py energy_keeper.py health*.py lo*.py out*.py plan*.py service.py tries.py))

eventlet-test:  ## The manager's functional tests on the eventlet backend.
eventlet-test-short:  ## Those of them with threads of their own, as in CI.

eventlet-test eventlet-test-short: $(VENV)/.test
	CLIMATE_TEST_BACKEND=eventlet $(BIN)/python -m pytest $(TESTS)

# Of each proof so much, in seconds, steps and cases. The short form is of chosen chances, so that a
# change is not refused for what it did not do; the others draw theirs, and print them.
faults: FAULTS = CLIMATE_CHAOS_SECONDS=240 CLIMATE_CHAOS_CLIENTS=20 CLIMATE_MODEL_STEPS=6000
faults-long: FAULTS = CLIMATE_CHAOS_SECONDS=600 CLIMATE_CHAOS_CLIENTS=20 \
	CLIMATE_MODEL_STEPS=200000 CLIMATE_CASES=100000 CLIMATE_QUEUE_TRIALS=60
# The soak wants the machine for itself.
faults-long: ALONE = CLIMATE_SOAK_SECONDS=3600 $(BIN)/python -m pytest -m faults \
	tests/faults/test_soak.py
# Managers on different nodes of a Galera cluster, which is there for this only.
faults-long: CLUSTER = $(PYTHON) -m tools.databases up galera && \
	{ CLIMATE_GALERA_ROUNDS=100 $(BIN)/python -m pytest -m faults tests/faults/test_galera.py; \
	code=$$?; $(PYTHON) -m tools.databases down galera; exit $$code; }
faults-short: FAULTS = CLIMATE_CHAOS_SECONDS=30 CLIMATE_CHAOS_SEED=1 \
	CLIMATE_MODEL_STEPS=1500 CLIMATE_MODEL_SEED=1 CLIMATE_CASES=1500 CLIMATE_SEED=1 \
	CLIMATE_QUEUE_TRIALS=2 CLIMATE_QUEUE_SEED=1
faults-short: CHOSEN = -k "not mariadb"

faults:  ## Never lost, never doubled: random faults, in about 25 minutes.
faults-short:  ## The same in 5 minutes, as in CI.
faults-long:  ## The same with the figures marked long, some hours.

faults faults-short faults-long: $(VENV)/.test databases
	$(FAULTS) $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m faults $(CHOSEN) \
		tests/faults
	$(CLUSTER)
	$(ALONE)

cloud: $(VENV)/.test  ## A real OpenStack on this machine, with Climate beside it.
	$(PYTHON) -m tools.cloud up
	$(PYTHON) -m tools.cloud climate-up

cloud-test: cloud  ## Climate's tests on the real OpenStack, half of them on a second one beside it.
	$(MAKE) --jobs=2 --keep-going --output-sync=target --no-print-directory \
		cloud-test-compute cloud-test-services

cloud-test-compute:
	$(BIN)/python -m pytest -m 'not services' $(CHOSEN) tests/cloud

# They wait most of the time, so two clouds are tested in the time of one.
cloud-test-services cloud-down-services: BESIDE = CLOUD_DIR=$(CLOUD_DIR)/services \
	CLOUD_VENV=$(CLOUD_DIR)/venv CLOUD_SHIFT=7000

cloud-test-services:
	$(BESIDE) $(PYTHON) -m tools.cloud up
	$(BESIDE) $(PYTHON) -m tools.cloud climate-up
	$(BESIDE) $(BIN)/python -m pytest -m services tests/cloud

cloud-bench: cloud  ## How late leases start on the real OpenStack, in about 15 minutes.
	$(BIN)/python -m benchmarks.on_cloud $(ARGUMENTS)

cloud-down: cloud-down-services
	$(PYTHON) -m tools.cloud climate-down
	$(PYTHON) -m tools.cloud down

cloud-down-services:
	$(BESIDE) $(PYTHON) -m tools.cloud climate-down
	$(BESIDE) $(PYTHON) -m tools.cloud down

bench: ARGUMENTS = --form bench
bench-short: ARGUMENTS = --form short
bench-long: ARGUMENTS = --form long

bench:  ## How fast it is, in at most 10 minutes; ROWS=1,2 for some rows of the table.
bench-short:  ## The same in 2 minutes, as in CI: fails where statements or growth exceed their goal.
bench-long:  ## The same with larger sizes and more runs, an hour and more.

bench bench-short bench-long: $(VENV)/.test databases
	CLIMATE_TEST_DATABASE=$$($(PYTHON) -m tools.databases url postgresql) \
		$(BIN)/python -m benchmarks $(ARGUMENTS) $(if $(ROWS),--rows $(ROWS)) --json build/bench.json

flame: MODULE = benchmarks.lease
flame: $(VENV)/.bench databases  ## Where a MODULE of the benchmarks spends its time, in build/flame.svg.
	mkdir -p build
	CLIMATE_TEST_DATABASE=$$($(PYTHON) -m tools.databases url postgresql) \
		$(BIN)/python -m tools.flame build/flame.svg $(if $(BELOW),--below $(BELOW)) -- \
		-m $(MODULE) --form short

clean:
	rm -rf $(VENV) $(VENV)-audit $(VENV)-tox .tox build dist *.egg-info doc/build
