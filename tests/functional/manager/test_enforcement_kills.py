# SPDX-License-Identifier: Apache-2.0
"""A manager dies at any step of a lease under an enforcement service: charges equal leases."""
import uuid

import pytest
import sqlalchemy as sa
from support import builders
from support import crashing
from support import dying_sites

from climate import errors
from climate.db import enforcement_calls
from climate.db import journal
from climate.db import tables
from climate.domain import records
from climate.manager.leases import enforcement_reports

_LEASE = str(uuid.UUID(int=1))


def _create(site):
    site.manager.client.create_lease(builders.a_member(), _LEASE, builders.a_lease(
        start=builders.at(2), end=builders.at(6)))


def _extend(site):
    site.manager.client.update_lease(
        builders.a_member(), _LEASE, records.LeaseChanges(end=builders.at(9)))


def _shorten(site):
    site.manager.client.update_lease(
        builders.a_member(), _LEASE, records.LeaseChanges(end=builders.at(4)))


def _delete(site):
    site.manager.client.delete_lease(builders.a_member(), _LEASE)


def _report(site):
    enforcement_reports.EnforcementReports(site.manager.core).step(site.clock())


def _begin_steps(site):
    """Start a lease that goes on in steps of an hour, and report it."""
    site.manager.client.create_lease(builders.a_member(), _LEASE, builders.a_lease(
        end=builders.at(2), while_free_seconds=3600))
    site.manager.run()
    _report(site)


def _step(site):
    """Carry out the step that is due an hour before the end, and report it."""
    site.clock.now = max(site.clock.now, builders.at(1))
    site.manager.run()
    site.clock.advance(builders.minutes(1))
    _report(site)


def _refused_step(site):
    """Carry out the step, and have the service refuse its report."""
    site.clock.now = max(site.clock.now, builders.at(1))
    site.manager.run()
    site.clock.advance(builders.minutes(1))
    site.driver.latest_end = builders.at(2)
    _report(site)


def _refused_create(site):
    """Create a lease whose report is refused."""
    site.driver.latest_end, site.driver.refusing = builders.at(5), ('commit',)
    _create(site)


def _refused_extend(site):
    """Extend a lease, and have the service refuse the report of that."""
    site.driver.latest_end, site.driver.refusing = builders.at(6), ('commit',)
    _extend(site)


def _others_book(site):
    """Book both hosts from the present end of the lease on, for a project that is not charged."""
    site.manager.core.conf.set_override('exempt_projects', ['other'], group='enforcement')
    site.manager.client.create_lease(
        builders.a_member('eve', 'other'), str(uuid.UUID(int=2)),
        builders.a_lease(builders.hosts(2), start=builders.at(2), end=builders.at(3)))


_STORIES = {'create': ([], _create), 'extend': ([_create], _extend),
            'shorten': ([_create], _shorten), 'delete': ([_create, _delete], _report),
            'step': ([_begin_steps], _step), 'last step': ([_begin_steps, _others_book], _step),
            'create, refused afterwards': ([], _refused_create),
            'extend, refused afterwards': ([_create], _refused_extend),
            'step, refused afterwards': ([_begin_steps], _refused_step)}
# {story: (the end of its lease, whether steps go on, its numbers of steps and of last steps)}
_STEPS = {'step': (builders.at(3), True, 1, 0), 'last step': (builders.at(2), False, 0, 1)}


@pytest.mark.proof
@pytest.mark.parametrize('charges_when_asked', [False, True])
@pytest.mark.parametrize('repeats', [False, True])
@pytest.mark.parametrize('story', _STORIES)
def test_charges_equal_leases_after_a_crash_at_any_step(
        story, repeats, charges_when_asked, conf, tmp_path, migrated, record_property):
    arrange, act = _STORIES[story]
    crash_at, died = 0, True
    while died:
        crash_at += 1
        path = tmp_path / f'{crash_at}.sqlite'
        path.write_bytes(migrated.read_bytes())
        site = dying_sites.Site(conf, path, charges_when_asked)
        site.manager.enrol(2)
        for step in arrange:
            step(site)
        site.points.begin(crash_at)
        died = False
        try:
            act(site)
        except crashing.Crash:
            died = True
        except errors.EnforcementRefused:
            """The story is over."""
        site.start()
        if died and repeats:
            try:
                act(site)
            except errors.ClimateError as error:
                assert error.status in (403, 404, 409), error.message
        site.driver.latest_end = None
        site.clock.advance(enforcement_reports.AGE + builders.minutes(1))
        site.report()
        _charges_equal_leases(site, f'{story}, point {crash_at}')
        if story in _STEPS:
            assert _steps(site) == _STEPS[story], f'point {crash_at}'
        site.manager.database.dispose()
    record_property('crash points', crash_at - 1)
    print(f'{story}: {crash_at - 1} crash points')
    assert crash_at > 5


def _steps(site):
    """Return what the lease shows of its steps, as in _STEPS."""
    lease = site.lease(_LEASE)
    with site.manager.database.reader() as connection:
        lines = [line.what for line in journal.history(connection, _LEASE)]
        last_steps = connection.execute(sa.select(sa.func.count()).where(
            tables.OUTBOX.c.event_type == 'lease.last_step')).scalar_one()
    assert lines.count('last step') == last_steps
    return lease.end, lease.while_free_seconds is not None, lines.count('extend'), last_steps


def _charges_equal_leases(site, where):
    """Check that the lease is charged for its present span, if it is written, and nothing else."""
    lease = site.lease(_LEASE)
    expected = {}
    if lease is not None and lease.deleted_at is None and lease.ended_at is None:
        expected[_LEASE] = lease.start, lease.end, 1
    assert site.driver.charges == expected, where
    with site.manager.database.reader() as connection:
        calls = enforcement_calls.counts(connection)
    assert set(calls) == ({'reported'} if expected else set()), where
