# SPDX-License-Identifier: Apache-2.0
"""Log lines contain the names of hosts, as Nova knows them, next to the ids; owners see none."""
import logging

import pytest
import sqlalchemy as sa
from support import api_server
from support import builders

from climate import version
from climate.db import tables
from climate.manager import core

NOON, hours = builders.NOON, builders.hours


@pytest.fixture
def logged(caplog):
    """callable(text): the log lines with that text, INFO ones too."""
    caplog.set_level(logging.INFO, 'climate')
    return lambda text: [message for message in caplog.messages if text in message]


def test_known_names_precede_the_ids(manager):
    found = core.ResourceNames()
    found.learn(manager.enrol(2))
    assert found.of([2, 1, 2]) == 'compute-1 (1), compute-2 (2)'
    assert found.of([7]) == '7'
    assert found.of([]) == 'none'


def test_the_log_names_the_hosts_of_a_lease_and_their_substitutes(manager, logged):
    manager.enrol(2)
    lease = manager.book(start=NOON + hours(1), end=NOON + hours(2))
    [line] = logged('created')
    host, other = (('compute-1 (1)', 'compute-2 (2)') if 'compute-1' in line
                   else ('compute-2 (2)', 'compute-1 (1)'))
    assert line.endswith(f'resources {host}')
    manager.cloud.mark_host(host.partition(' ')[0], up=False)
    manager.run_until(NOON + hours(1))
    [line] = logged('not available')
    assert line.endswith(f'replaced by resources {other}')
    with manager.database.reader() as connection:
        [(operator, owner)] = connection.execute(
            sa.select(tables.HISTORY.c.why, tables.HISTORY.c.owner_why)
            .where(tables.HISTORY.c.lease_id == lease.id, tables.HISTORY.c.what == 'substitute'))
    assert operator == f'resources {host} replaced by {other}'
    assert 'compute' not in owner


def test_the_log_of_an_offer_names_its_hosts(manager, logged):
    manager.enrol(1)
    manager.hold(builders.a_lease(end=NOON + hours(1)))
    [line] = logged('held until')
    assert line.endswith('resources compute-1 (1)')


def test_the_api_logs_its_version_and_address_at_the_start(conf, manager, logged):
    with api_server.climate_api(conf, manager) as port:
        assert logged('listens') == [
            f'climate-api {version.text()} listens on {conf.api.host}:{port}']
