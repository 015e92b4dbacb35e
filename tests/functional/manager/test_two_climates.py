# SPDX-License-Identifier: Apache-2.0
"""Two Climates with a database each, on one cloud and one Keystone, log in as the same user.

Regions usually share Keystone and the service user, and a service that is being replaced runs on
for a while beside the new one.
"""
import datetime

import acts
import audit_installation
import pytest
from support import builders
from support import cloud_points

from climate import errors
from climate.cmd import audit as command
from climate.db import engine
from climate.db import trusts as recorded_trusts
from climate.domain import lifecycle
from climate.domain import records
from climate.domain.clearing import plans
from climate.manager.audit import comparison
from climate.manager.leases import early_creations
from climate.manager.leases import trust_reaper

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
TOGETHER = builders.instances(2, affinity=True)


@pytest.fixture
def other(conf, manager, clock, migrated, tmp_path):
    """The other Climate: another database, the same cloud and service user."""
    path = tmp_path / 'other.sqlite'
    path.write_bytes(migrated.read_bytes())
    database = engine.Database(f'sqlite:///{path}')
    yield builders.Manager(conf, database, clock, manager.cloud)
    database.dispose()


def _running(manager, hosts):
    """Enrol hosts and lease them in each way that leaves something in the cloud."""
    for name in hosts:
        manager.client.create_resource(builders.an_admin(), 'host', name, {})
    lease = manager.active(
        builders.hosts(1), audit_installation.ROOM, TOGETHER, end=NOON + hours(9))
    return manager.lease(lease)


def _picture(manager):
    services = manager.cloud.as_service()
    return (manager.cloud.leftovers(), services.nova.aggregates(), services.keystone.trusts(),
            services.placement.children('climate_'), services.computes.every())


def _errands(manager):
    """All that a manager does from time to time and that removes something."""
    now = manager.clock()
    for _ in range(2):
        trust_reaper.TrustReaper(manager.core).reap(now)
        early_creations.EarlyCreationReaper(manager.core).reap(now)
        command.examine(manager.core, True, lambda seconds: None)
        now += minutes(10)


def test_two_climates_leave_the_objects_of_each_other(manager, other, clock, capsys):
    names = sorted(manager.cloud.host_names())
    mine, theirs = _running(manager, names[:4]), _running(other, names[4:8])
    computes = manager.cloud.as_service().computes
    clock.advance(minutes(30))
    for climate, host, lease in ((manager, names[7], theirs), (other, names[3], mine)):
        # The host looks as if it were being cleared for a lease that this one does not know.
        computes.disable(host, plans.fence_of(lease.id))
        before = _picture(manager)
        _errands(climate)
        assert _picture(manager) == before
        computes.enable(host, plans.fence_of(lease.id))
    told = capsys.readouterr().out
    assert 'repaired' not in told
    assert f'aggregate {theirs.reservations[0].id}' in told
    assert 'it may belong to another Climate' in told

    manager.expect(mine, lifecycle.TERMINATED, NOON + hours(10))
    assert [each.id for each in acts.trusts(manager)] == [theirs.trust_id]
    other.expect(theirs, lifecycle.TERMINATED, NOON + hours(10))
    assert acts.trusts(manager) == []


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_trust_whose_creation_got_no_answer_is_found_by_the_moment_it_expires(manager, other):
    """Keystone made the trust, but the answer was lost, or the manager died."""
    manager.enrol(1)
    other.client.create_resource(builders.an_admin(), 'host', 'compute-2', {})
    theirs = other.book(start=NOON + hours(1), end=NOON + hours(2))

    def lose():
        raise errors.CloudUnreachable(service='Keystone', reason='no answer')
    cloud_points.once_at(manager.cloud, 'keystone.create_trust', lose, 'after')
    with pytest.raises(errors.CloudUnreachable):
        manager.book()
    [lost] = [each for each in acts.trusts(manager) if each.id != theirs.trust_id]
    assert lost.expires_at > NOON + hours(24 * 365)
    assert trust_reaper.TrustReaper(other.core).reap(NOON + hours(1)) == []
    reaper = trust_reaper.TrustReaper(manager.core)
    assert reaper.reap(NOON + minutes(9)) == []
    assert len(reaper.reap(NOON + minutes(10))) == 1
    assert [each.id for each in acts.trusts(manager)] == [theirs.trust_id]
    assert reaper.reap(NOON + hours(1)) == []


@pytest.mark.usefixtures('each_lease_has_a_trust')
@pytest.mark.parametrize(('others', 'left'), [(0, 0), (1, 2)])
def test_a_trust_that_no_record_identifies_is_left_alone(manager, others, left):
    """Keystone shows the expiry in whole seconds, which others may share."""
    manager.enrol(1)
    lease = manager.active()
    with manager.database.reader() as connection:
        second = recorded_trusts.of(connection, lease.trust_id).expires_at.replace(microsecond=0)
    with manager.database.writer() as connection:
        recorded_trusts.add(connection, records.RecordedTrust(
            'lost', 'no lease', NOON, second + datetime.timedelta(microseconds=1)))
    keystone = manager.cloud.as_service().keystone
    for number in range(1 + others):
        keystone.create_trust(builders.a_member(), second + datetime.timedelta(
            microseconds=1 + number))
    reaper = trust_reaper.TrustReaper(manager.core)
    assert len(comparison.Auditor(manager.core).compare()) == 0
    manager.clock.advance(minutes(10))
    assert len(reaper.identify(reaper.find(manager.clock()), keystone.trusts())) == 1 - others
    reaper.reap(manager.clock())
    remaining = {each.id for each in acts.trusts(manager)}
    assert lease.trust_id in remaining and len(remaining) == 1 + left


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_lease_whose_trust_the_other_one_dropped_is_found_by_an_audit(manager):
    manager.enrol(1)
    lease = manager.active()
    manager.cloud.as_service().keystone.delete_trust(lease.trust_id)
    [drift] = comparison.Auditor(manager.core).compare()
    assert (drift.kind, drift.what, drift.repair) == ('trust', f'lease {lease.id}', None)
    assert f'its trust {lease.trust_id} is gone from Keystone' in drift.problem


@pytest.mark.usefixtures('each_lease_has_a_trust')
@pytest.mark.parametrize('refused', [errors.TrustRefused(reason='no.'), errors.NotAuthenticated()])
def test_no_record_is_left_of_a_trust_that_keystone_refused(manager, refused):
    manager.enrol(1)
    manager.cloud.fail('keystone.create_trust', 1, refused)
    with pytest.raises(type(refused)):
        manager.book()
    assert trust_reaper.TrustReaper(manager.core).find(NOON + hours(1)) == []


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_request_that_takes_too_long_is_refused_and_leaves_no_trust(
        conf, database, clock, meddling):
    manager = builders.Manager(conf, meddling, clock)
    manager.enrol(1)
    reaper = trust_reaper.TrustReaper(builders.Manager(conf, database, clock, manager.cloud).core)

    def first():
        meddling.before_writer = lambda: reaper.reap(NOON + hours(1))
    meddling.before_writer = first
    with pytest.raises(errors.LostRace):
        manager.book(start=NOON + hours(1), end=NOON + hours(2))
    assert acts.trusts(manager) == []
    assert manager.client.list_leases(builders.an_admin(), records.LeaseQuery()) == []
    assert reaper.find(NOON + hours(1)) == []


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_lease_does_not_outlive_its_trust(manager):
    manager.enrol(1)
    lease = manager.active()
    with manager.database.reader() as connection:
        record = recorded_trusts.of(connection, lease.trust_id)
    assert record.lease_id == lease.id
    longer = manager.change(lease, end=record.expires_at - hours(1))
    with pytest.raises(errors.BadField, match=r'^end: '):
        manager.change(longer, end=record.expires_at + hours(1))
