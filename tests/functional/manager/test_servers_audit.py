# SPDX-License-Identifier: Apache-2.0
"""Audits of leased servers and their metadata."""
import uuid

import pytest
from support import builders

from climate.cmd import audit as command
from climate.domain import lifecycle

LATER = builders.at(1)
STRANGER = str(uuid.UUID(int=7))


@pytest.fixture
def audit(manager):
    """callable(fix): the exit status of an audit."""
    def run(fix=False, unknown=False):
        return command.examine(manager.core, fix, lambda seconds: None, unknown)
    return run


def _leased(manager, server, **more):
    """A lease of a server that exists, as it is when all that is due was done."""
    lease = manager.book(builders.a_server(server, on_end='migrate'), **more)
    manager.run_until(manager.clock() + builders.minutes(1))
    return manager.lease(lease)


def _metadata(manager, server):
    return manager.cloud.as_service().servers.server(server.id).metadata


def _mark(manager, server, **metadata):
    manager.cloud.as_service().servers.mark(server.id, {
        f'climate:{key}': text for key, text in metadata.items()})


def test_leased_servers_awake_or_asleep_are_no_drift(manager, audit):
    manager.enrol(2)
    awake, asleep = (manager.cloud.boot('demo', name, host='compute-8', flavor='2')
                     for name in ('awake', 'asleep'))
    assert _leased(manager, awake).state == lifecycle.ACTIVE
    later = _leased(manager, asleep, start=LATER, end=LATER + builders.hours(1))
    assert later.state == lifecycle.PENDING
    assert audit(fix=True) == 0
    manager.expect(later, lifecycle.ACTIVE, LATER + builders.minutes(2))
    assert audit(fix=True) == 0
    manager.expect(later, lifecycle.TERMINATED, LATER + builders.hours(2))
    assert audit(fix=True) == 0


def test_a_leased_server_without_metadata_gets_them_back(manager, audit, capsys):
    server = manager.cloud.boot('demo', 'vm', flavor='2')
    lease = _leased(manager, server)
    before = _metadata(manager, server)
    _mark(manager, server, reservation_id=None, lease_id=STRANGER)
    assert audit() == 2
    told = capsys.readouterr().out
    assert f'reservation {lease.reservations[0].id}' in told
    assert f'server {server.id} does not name it in its metadata' in told
    assert audit(fix=True) == 0
    assert _metadata(manager, server) == before
    assert audit() == 0


@pytest.mark.parametrize('names', ['a reservation that is over', 'a lease that is over',
                                   'no lease'])
def test_metadata_of_an_unknown_lease_are_removed(manager, audit, capsys, names):
    server = manager.cloud.boot('demo', 'vm', flavor='2', metadata={'mine': 'too'})
    lease = _leased(manager, server)
    manager.expect(lease, lifecycle.TERMINATED, lease.end + builders.minutes(5))
    assert _metadata(manager, server) == {'mine': 'too'}
    if names == 'a reservation that is over':
        _mark(manager, server, lease_id=lease.id, reservation_id=lease.reservations[0].id)
    else:
        _mark(manager, server, lease_id=STRANGER if names == 'no lease' else lease.id)
    assert audit() == 2
    assert f'metadata of server {server.id}' in capsys.readouterr().out
    if names == 'no lease':
        # It may be a lease of another Climate.
        before = _metadata(manager, server)
        assert audit(fix=True) == 2
        assert _metadata(manager, server) == before
    assert audit(fix=True, unknown=True) == 0
    assert _metadata(manager, server) == {'mine': 'too'}
    assert [each.id for each in manager.cloud.servers()] == [server.id]


def test_metadata_that_nova_lets_nobody_change_are_no_drift(manager, audit):
    server = manager.cloud.boot('demo', 'vm', flavor='2')
    _mark(manager, server, lease_id=STRANGER)
    manager.cloud.mark_server(server.id, 'SHELVED_OFFLOADED')
    assert audit() == 0
