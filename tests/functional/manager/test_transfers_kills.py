# SPDX-License-Identifier: Apache-2.0
"""A manager dies at any commit or call of a transfer: one project has the lease, and pays for it.

The receiver accepts again if the offer is still open. In the end nothing is left of the leases.
"""
import acts
import pytest
import sqlalchemy as sa
from support import builders
from support import crashing
from support import dying_sites

from climate import errors
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import transfers
from climate.manager.leases import enforcement_reports
from climate.manager.leases import trust_reaper

pytestmark = pytest.mark.proof

GUEST = 'guests'
RECEIVER = builders.a_member('gus', GUEST)
#: {story: (start of the lease, number of offered hosts)}.
STORIES = {'future': (builders.at(2), None), 'part': (builders.at(2), 1),
           'running': (None, None)}


def _arrange(site, start, hosts):
    """Return the Transfer of a lease of two hosts with a trust."""
    site.manager.enrol(2)
    request = builders.hosts(2)
    request.request['before_end'] = 'snapshot'
    lease = site.manager.create(builders.a_lease(request, start=start, end=builders.at(6)))
    site.manager.run()
    return site.manager.client.offer_transfer(
        builders.a_member(), lease.id, transfers.TransferRequest(GUEST, hosts)).transfer


def _accept(site, offered):
    site.manager.client.accept_transfer(RECEIVER, offered.id)
    site.manager.run()


def _open_leases(site):
    """{project: the numbers of resources of its open leases}."""
    with site.manager.database.reader() as connection:
        ids = connection.execute(sa.select(tables.LEASES.c.id).where(
            tables.LEASES.c.state.not_in(lifecycle.OVER))).scalars().all()
    found = {}
    for lease in map(site.lease, ids):
        found.setdefault(lease.project_id, []).append(
            sum(len(each.resource_ids) for each in lease.reservations))
    return found


def _follow(site, offered, died):
    """Complete the work with another manager; the receiver accepts again if it can."""
    site.start()
    if died:
        try:
            _accept(site, offered)
        except errors.TransferClosed as error:
            assert error.kwargs['status'] == 'accepted'
    site.clock.advance(enforcement_reports.AGE + builders.minutes(1))
    trust_reaper.TrustReaper(site.manager.core).reap(site.clock())
    site.report()


@pytest.mark.parametrize('charges_when_asked', [False, True])
@pytest.mark.parametrize('story', STORIES)
def test_one_project_has_and_pays_the_lease_after_a_crash_at_any_step(
        story, charges_when_asked, conf, tmp_path, migrated, record_property):
    start, hosts = STORIES[story]
    crash_at, died = 0, True
    while died:
        crash_at += 1
        path = tmp_path / f'{crash_at}.sqlite'
        path.write_bytes(migrated.read_bytes())
        site = dying_sites.Site(conf, path, charges_when_asked)
        offered = _arrange(site, start, hosts)
        site.points.begin(crash_at)
        died = False
        try:
            _accept(site, offered)
        except crashing.Crash:
            died = True
        _follow(site, offered, died)
        assert _open_leases(site) == (
            {GUEST: [2]} if hosts is None else {'demo': [1], GUEST: [1]}), crash_at
        assert len(acts.trusts(site.manager)) == len(_open_leases(site)), crash_at
        spans = {lease_id: span for lease_id, span in site.driver.charges.items()
                 if site.lease(lease_id) is None or site.lease(lease_id).ended_at is None}
        assert sorted(span[2] for span in spans.values()) == sorted(
            count for counts in _open_leases(site).values() for count in counts), crash_at
        site.manager.run_until(builders.at(7))
        site.report()
        assert acts.is_clean(site.manager, 2), crash_at
        assert sum(site.driver.hours().values()) == pytest.approx(
            12 if start is None else 8, abs=0.5), crash_at
        site.manager.database.dispose()
    record_property('crash points', crash_at - 1)
    assert crash_at > 8
