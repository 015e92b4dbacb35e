# SPDX-License-Identifier: Apache-2.0
"""Fixtures that all tests share: configuration, database, clock, a manager, an API.

CLIMATE_TEST_DATABASE names the database to test on, by its SQLAlchemy URL; SQLite by default.
All contents of that database are deleted before each test. CLIMATE_TEST_BACKEND, "threading" or
"eventlet", names the concurrency that the tests run with.
"""
# ruff: noqa: I001
import gc
import os
import pathlib
import random
import shutil
import threading
import time

from climate import backend

if 'CLIMATE_TEST_BACKEND' in os.environ:
    backend.use(os.environ['CLIMATE_TEST_BACKEND'])
else:
    backend.prefer_threads()

import hypothesis
from hypothesis.internal.conjecture import providers
from oslo_config import cfg
import pytest
import sqlalchemy as sa

from support import builders
from climate import conf as configuration
from climate.db import engine
from climate.db import migrate
from climate.plugins import registry


_PLUGINS = ['physical:host', 'virtual:instance', 'flavor:instance', 'virtual:dummy',
            'virtual:cluster', 'virtual:floatingip', 'virtual:network', 'virtual:stack',
            'virtual:volume']
# The pool of a manager is as large as this, and ends a moment after it.
_MOST_THREADS = 50

# The folders whose tests need no service that outlives a run.
_WITHOUT_LUCK = ('unit', 'functional', 'faults')
# The quick suite tries the same examples on every run. `make proofs` searches with a drawn seed.
# Neither reads the clock: what is slow on a busy machine is not wrong.
_NO_CLOCK = {'deadline': None, 'suppress_health_check': [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile('quick', derandomize=True, database=None, max_examples=30,
                                     **_NO_CLOCK)
hypothesis.settings.register_profile('search', database=None, print_blob=True, **_NO_CLOCK)
hypothesis.settings.load_profile('quick')
_REAL_URANDOM = os.urandom
# The command line shows times in the zone of the machine unless a test chooses another one.
os.environ['TZ'] = 'UTC'
time.tzset()


def _restore_urandom():
    os.urandom = random._urandom = _REAL_URANDOM


# Processes that are forked from one test would otherwise all draw the same ids.
os.register_at_fork(after_in_child=_restore_urandom)


def pytest_configure(config):
    """Keep the examples of the quick suite independent of which modules are imported already.

    Hypothesis also tries the constants that it finds in them. A search profits from that.
    """
    if config.getoption('hypothesis_profile') is None:
        providers.is_local_module_file = lambda path: False


def pytest_collection_finish():
    """Keep the garbage collector from scanning all modules and tests again and again.

    That takes a tenth of the time of the quick suite.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def pytest_terminal_summary(terminalreporter):
    """Print the command that repeats a random search."""
    if 'CLIMATE_REPEAT' in os.environ:
        terminalreporter.line(f'Repeat with: {os.environ["CLIMATE_REPEAT"]}')


@pytest.fixture(autouse=True)
def same_random_bytes(request, monkeypatch):
    """Give each test the same ids, tokens and keys on every run.

    Random faults draw their own, because they search. So do tests of real services, because those
    still know the ids of earlier runs.
    """
    folder = request.path.relative_to(pathlib.Path(__file__).parent).parts[0]
    if folder not in _WITHOUT_LUCK or request.node.get_closest_marker('faults'):
        return
    source = random.Random(request.node.nodeid)
    random.seed(request.node.nodeid)
    monkeypatch.setattr(os, 'urandom', source.randbytes)
    monkeypatch.setattr(random, '_urandom', source.randbytes)


@pytest.fixture(autouse=True)
def threads_end():
    """A test lets its threads end: a machine has but so many, and thousands of tests follow."""
    before = threading.active_count()
    yield
    left = threading.active_count() - before
    assert left < _MOST_THREADS, f'{left} threads of this test go on.'


@pytest.fixture
def conf():
    """Climate's options with their defaults, on the simulated cloud, in a conf of its own."""
    found = configuration.register(cfg.ConfigOpts())
    registry.register_options(found, registry.load(_PLUGINS))
    found([], project='climate', default_config_files=[], default_config_dirs=[], use_env=False)
    found.set_override('plugins', _PLUGINS)
    found.set_override('driver', 'simulated', group='cloud')
    found.set_override('auth_strategy', 'noauth', group='api')
    # Tests make many tries in a moment that stands still.
    found.set_override('processor_share', 64, group='acquire')
    return found


@pytest.fixture
def rare_polls(conf):
    """Waiting work is polled rarely, for tests in which leases wait for hours of their clock."""
    conf.set_override('busy_seconds', 20, group='manager')
    conf.set_override('wait_look_seconds', 900, group='acquire')


@pytest.fixture(scope='session')
def migrated(tmp_path_factory):
    """The path of an empty SQLite database with Climate's tables, to be copied."""
    path = tmp_path_factory.mktemp('migrated') / 'climate.sqlite'
    made = engine.Database(f'sqlite:///{path}')
    migrate.upgrade(made)
    with made.reader() as connection:
        connection.exec_driver_sql('PRAGMA wal_checkpoint(TRUNCATE)')
    made.dispose()
    return path


@pytest.fixture(scope='session')
def opened(tmp_path_factory):
    """A Database for all tests of this process, and the link that leads to the files of each.

    An engine compiles each statement once. With an engine of its own, a test would compile all of
    them again.
    """
    link = tmp_path_factory.mktemp('opened') / 'now'
    found = engine.Database(os.environ.get('CLIMATE_TEST_DATABASE')
                            or f'sqlite:///{link}/climate.sqlite')
    if found.dialect == 'sqlite':
        # The file of a test need not survive a crash of the machine.
        sa.event.listen(found.engine, 'connect', lambda connection, _record: connection.execute(
            'PRAGMA synchronous = OFF'))
    yield found, link
    found.dispose()


@pytest.fixture
def database(tmp_path, migrated, opened):
    """An empty database with Climate's tables."""
    found, link = opened
    if found.dialect == 'sqlite':
        shutil.copy(migrated, tmp_path / 'climate.sqlite')
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path)
    else:
        builders.clean(found)
    yield found
    found.dispose()


@pytest.fixture
def clock():
    """A moment that stands still until a test moves it."""
    return builders.Clock()


@pytest.fixture
def manager(conf, database, clock):
    """A manager on the simulated cloud whose events run when a test says so."""
    return builders.Manager(conf, database, clock)


@pytest.fixture
def api(conf, manager):
    """The REST service over that manager, called in this process."""
    return builders.Api(conf, manager)
