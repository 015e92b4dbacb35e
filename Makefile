# SPDX-License-Identifier: Apache-2.0
# Each target does all its own set-up, on a machine with git, make and python3.11 or newer.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
CLOUD_DIR ?= $(CURDIR)/.cloud
# One more than two processors, because many tests wait for other programs.
WORKERS ?= 3
# Python must keep the bytecode of tests, whatever the environment says: to compile them takes 10 s.
unexport PYTHONDONTWRITEBYTECODE
# How often each race for the last resource is run on MariaDB and PostgreSQL.
ROUNDS ?= 100
# The seed of a random search; drawn once for each call of make that names none.
ifndef SEED
SEED := $(shell shuf -i 1-999999 -n 1)
endif
# The command that repeats a search, which the tests print at their end.
REPEAT = CLIMATE_REPEAT='make $@ SEED=$(SEED)'

.DEFAULT_GOAL = help
.PHONY: audit-dependencies bench bench-long bench-short check clean cloud cloud-bench cloud-down \
	cloud-down-services cloud-test cloud-test-compute cloud-test-services cloud-test-short \
	cloudkitty-test console-pictures console-test consumers-test databases databases-down db-test \
	db-test-short demo docs eventlet-test eventlet-test-short faults faults-long faults-short \
	flame help horizon-test ironic-test package-test proofs release-check run samples test tox

help:  ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST) | sort

# The service itself, and what its tests, its linters and its docs need. Until it was named
# openstack-climate, the distribution was "climate": two of them would double each entry point.
$(VENV)/.run: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip uninstall -qqq --yes climate
	rm -rf climate.egg-info
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[service,completion]'
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

run: $(VENV)/.run  ## Run the service on SQLite and a simulated cloud until Ctrl-C.
	$(BIN)/climate-standalone

demo: $(VENV)/.run  ## Play whole leases on a simulated cloud and print what happens.
	$(BIN)/python -m tools.demo

test: $(VENV)/.test  ## Run the quick suite, in at most 5 minutes, with the same result every time.
	PYTHONHASHSEED=0 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

proofs: $(VENV)/.test  ## Run the slow proofs, and search for counterexamples with a drawn SEED.
	$(REPEAT) PYTHONHASHSEED=$(SEED) CLIMATE_RACE_ROUNDS=3 $(BIN)/python -m pytest -n $(WORKERS) \
		-m '(proof or hypothesis) and not faults' --hypothesis-profile=search \
		--hypothesis-seed=$(SEED)

release-check:  ## Run every check there is, in hours, and print a table of the results.
	$(PYTHON) -m tools.steps release $(ARGUMENTS)

check: $(VENV)/.check  ## Check style, types, architecture, English, samples, documentation and known vulnerabilities.
	$(BIN)/ruff check .
	$(BIN)/flake8 climate tests tools benchmarks
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_architecture.py
	$(BIN)/python -m tools.prose
	tools/samples.sh --check
	shellcheck devstack/plugin.sh devstack/settings tools/*.sh .ci/run
	$(BIN)/sphinx-build -q -W -b html doc/source doc/build/html
	$(PYTHON) -m tools.weaknesses --if-reachable --venv $(VENV)-audit

# CI makes but one of them, for its time.
tox: ENVIRONMENTS ?= ALL

tox: $(VENV)-tox/.made  ## Build every tox environment; run one.
	PIP_NO_COMPILE=1 $(VENV)-tox/bin/tox run --quiet --workdir build/tox --notest -e $(ENVIRONMENTS)
	$(VENV)-tox/bin/tox run --quiet --workdir build/tox -e py3 -- -n 0 tests/unit/test_extras.py
	rm -rf build/tox

samples: $(VENV)/.check  ## Write the sample configuration and policy files again.
	tools/samples.sh

docs: $(VENV)/.check  ## Build the documentation.
	$(BIN)/sphinx-build -q -W -b html doc/source doc/build/html

audit-dependencies:  ## List the known vulnerabilities of the pinned versions.
	$(PYTHON) -m tools.weaknesses --venv $(VENV)-audit

databases:  ## Start a MariaDB and a PostgreSQL on loopback.
	$(PYTHON) -m tools.databases up

databases-down:  ## Stop these databases.
	$(PYTHON) -m tools.databases down

db-test: TESTS = -m 'not faults' tests/functional
# Where the SQL itself is tested, and where several write at once.
db-test-short: ROUNDS = 5
db-test-short: TESTS = tests/functional/db $(wildcard tests/functional/test_*races.py) \
	$(wildcard $(addprefix tests/functional/manager/test_,*races.py bill*.py bound.py claims.py \
		delivery.py lock*.py offers.py outbox*.py usage_report.py wakeups*.py))

db-test:  ## Run the functional tests on MariaDB and PostgreSQL.
db-test-short:  ## Run the tests of SQL and of races on both databases, as in CI.

db-test db-test-short: $(VENV)/.test databases
	$(MAKE) --jobs=2 --output-sync=target --no-print-directory \
		TESTS="$(TESTS)" ROUNDS=$(ROUNDS) db-test-on-mariadb db-test-on-postgresql

db-test-on-%: $(VENV)/.test
	CLIMATE_TEST_DATABASE=$$($(PYTHON) -m tools.databases url $*) CLIMATE_RACE_ROUNDS=$(ROUNDS) \
		$(BIN)/python -m pytest $(TESTS)

cloudkitty-test: $(VENV)/.test $(VENV)-cloudkitty/.made  ## Compare the charges with those of a real CloudKitty.
	$(PYTHON) -m tools.databases up mariadb
	CLOUDKITTY_BIN=$(abspath $(VENV)-cloudkitty/bin) \
		CLOUDKITTY_DATABASE=$$($(PYTHON) -m tools.databases url mariadb) \
		$(BIN)/python -m pytest tests/cloudkitty

ironic-test: $(VENV)/.test $(VENV)-ironic/.made  ## Switch nodes through a real Ironic.
	IRONIC_BIN=$(abspath $(VENV)-ironic/bin) $(BIN)/python -m pytest tests/ironic

horizon-test: $(VENV)/.test $(VENV)-horizon/.made  ## Use the lease panel of a real Horizon with Climate.
	HORIZON_BIN=$(abspath $(VENV)-horizon/bin) CLIMATE_PICTURES=build/horizon \
		$(BIN)/python -m pytest tests/horizon

# The earlier commit from which package-test upgrades, and the revision 0037 of its tables.
UPGRADE_FROM ?= 7cb94500

package-test: $(VENV)/.test  ## Install the sdist and the wheel, and upgrade from an earlier wheel under load.
	$(BIN)/python -m pytest tests/packages
	CLIMATE_UPGRADE_FROM=$(UPGRADE_FROM) $(BIN)/python -m pytest -m faults \
		tests/faults/test_rolling_upgrade.py

console-pictures: export CLIMATE_PICTURES = doc/source/user/console

console-pictures: console-test  ## Take the pictures of the user guide again.

console-test: $(VENV)/.test  ## Test the console in a real Chromium.
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder tests/console

eventlet-test: TESTS = tests/functional/manager
eventlet-test-short: TESTS = $(wildcard $(addprefix tests/functional/manager/test_,*races.py \
	attempts.py claims.py delivery*.py energy_power_saving.py health*.py lo*.py out*.py plan*.py \
	service.py))

eventlet-test:  ## Run the manager's functional tests on eventlet.
eventlet-test-short:  ## Run the tests with threads on eventlet, as in CI.

# oslo.service and eventlet warn of themselves.
eventlet-test eventlet-test-short: $(VENV)/.test
	CLIMATE_TEST_BACKEND=eventlet $(BIN)/python -m pytest -W ignore::DeprecationWarning $(TESTS)

# How long each test searches: in seconds, steps, cases and trials. The short form has a fixed seed,
# so that a change is not refused for a fault that it did not make.
FAULTS = CLIMATE_CHAOS_SEED=$(SEED) CLIMATE_MODEL_SEED=$(SEED) CLIMATE_SEED=$(SEED) \
	CLIMATE_QUEUE_SEED=$(SEED) $(AMOUNTS)
faults: AMOUNTS = CLIMATE_CHAOS_SECONDS=240 CLIMATE_CHAOS_CLIENTS=20 CLIMATE_MODEL_STEPS=6000
faults-long: AMOUNTS = CLIMATE_CHAOS_SECONDS=600 CLIMATE_CHAOS_CLIENTS=20 \
	CLIMATE_MODEL_STEPS=200000 CLIMATE_CASES=100000 CLIMATE_QUEUE_TRIALS=60
# The soak and the rolling restart want the machine for themselves.
RESTARTS = CLIMATE_RESTART_RATE=50 $(BIN)/python -m pytest -m faults \
	tests/faults/test_rolling_restart.py
faults: ALONE = $(RESTARTS)
faults-long: ALONE = $(RESTARTS) && CLIMATE_SOAK_SECONDS=3600 $(BIN)/python -m pytest -m faults \
	tests/faults/test_soak.py
# Managers on different nodes of a Galera cluster, which is there for this only.
faults-long: CLUSTER = $(PYTHON) -m tools.databases up galera && \
	{ CLIMATE_GALERA_ROUNDS=100 CLIMATE_GALERA_SEED=$(SEED) $(BIN)/python -m pytest -m faults \
	tests/faults/test_galera.py; \
	code=$$?; $(PYTHON) -m tools.databases down galera; exit $$code; }
faults-short: SEED = 1
faults-short: AMOUNTS = CLIMATE_CHAOS_SECONDS=30 CLIMATE_MODEL_STEPS=1500 CLIMATE_CASES=1500 \
	CLIMATE_QUEUE_TRIALS=2
faults-short: CHOSEN = -k "not mariadb"

faults:  ## Search for faults at random for 25 minutes; nothing may be lost or doubled.
faults-short:  ## Search for faults with a fixed seed for 5 minutes, as in CI.
faults-long:  ## Search for faults for hours, with a soak and on a Galera cluster.

faults faults-short faults-long: $(VENV)/.test databases
	$(REPEAT) $(FAULTS) $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m faults $(CHOSEN) \
		tests/faults
	$(CLUSTER)
	$(ALONE)

cloud: $(VENV)/.test  ## Start a real OpenStack on this machine, with Climate beside it.
	$(PYTHON) -m tools.cloud up
	$(PYTHON) -m tools.cloud climate-up

cloud-test: cloud  ## Run all tests of the real OpenStack, on two clouds at the same time.
	$(MAKE) --jobs=2 --keep-going --output-sync=target --no-print-directory \
		cloud-test-compute cloud-test-services

cloud-test-compute:  ## Run the tests of the real OpenStack that need no services of their own.
	$(BIN)/python -m pytest -m 'not services and not consumers' $(CHOSEN) \
		tests/cloud

# What users do every day, with each kind of lease that needs compute hosts only.
cloud-test-short: SHORT = $(addsuffix .py,$(addprefix tests/cloud/test_,best_effort blazarclient \
	boot_with_lease filter_real host_lease_real processes races room_for_instances))

cloud-test-short:  ## Run a quarter of the tests of the real OpenStack, as in CI.
	$(BIN)/python -m pytest $(SHORT)

# They wait most of the time, so two clouds are tested in the time of one.
cloud-test-services cloud-down-services: BESIDE = CLOUD_DIR=$(CLOUD_DIR)/services \
	CLOUD_VENV=$(CLOUD_DIR)/venv CLOUD_SHIFT=7000

cloud-test-services:  ## Run the tests of the real OpenStack on a cloud of their own.
	$(BESIDE) $(PYTHON) -m tools.cloud up
	$(BESIDE) $(PYTHON) -m tools.cloud climate-up
	$(BESIDE) $(BIN)/python -m pytest -m services tests/cloud

consumers-test: cloud  ## Run the programs of others that speak to Blazar against Climate, and print a table.
	$(BIN)/python -m pytest -p support.consumer_table -m '' tests/cloud/test_blazarclient.py \
		tests/cloud/consumers

cloud-bench: cloud  ## Measure how late leases start on the real OpenStack.
	$(BIN)/python -m benchmarks.on_cloud $(ARGUMENTS)

cloud-down: cloud-down-services  ## Stop both clouds.
	$(PYTHON) -m tools.cloud climate-down
	$(PYTHON) -m tools.cloud down

cloud-down-services:  ## Stop the second cloud.
	$(BESIDE) $(PYTHON) -m tools.cloud climate-down
	$(BESIDE) $(PYTHON) -m tools.cloud down

bench: ARGUMENTS = --form bench
bench-short: ARGUMENTS = --form short
bench-long: ARGUMENTS = --form long

bench:  ## Measure speed and memory in 10 minutes; ROWS=1,2 chooses rows.
bench-short:  ## Measure for 2 minutes, as in CI; fail where a firm figure is exceeded.
bench-long:  ## Measure larger sizes with more runs, for an hour or more.

bench bench-short bench-long: $(VENV)/.test databases
	CLIMATE_TEST_DATABASE=$$($(PYTHON) -m tools.databases url postgresql) \
		$(BIN)/python -m benchmarks $(ARGUMENTS) $(if $(ROWS),--rows $(ROWS)) --json build/bench.json

flame: MODULE = benchmarks.lease
flame: $(VENV)/.bench databases  ## Draw where a benchmark MODULE spends its time, in build/flame.svg.
	mkdir -p build
	CLIMATE_TEST_DATABASE=$$($(PYTHON) -m tools.databases url postgresql) \
		$(BIN)/python -m tools.flame build/flame.svg $(if $(BELOW),--below $(BELOW)) -- \
		-m $(MODULE) --form short

clean:  ## Remove virtual environments and built files.
	rm -rf $(VENV) $(VENV)-audit $(VENV)-tox .tox build dist *.egg-info doc/build
