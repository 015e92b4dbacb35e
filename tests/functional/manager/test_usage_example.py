# SPDX-License-Identifier: Apache-2.0
"""The worked example of the page on usage: its story is played, its numbers are recomputed."""
import pathlib

import pytest
from support import builders

from climate import errors
from climate.db import use_samples
from climate.domain import records
from climate.domain import use_sampling

DOCS = pathlib.Path(__file__).resolve().parents[3] / 'doc/source/admin'
ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
BLUE, GREEN = (builders.a_member('user', project) for project in ('blue', 'green'))
MAY_1 = 'start=2030-05-01&end=2030-05-02'


def at(hour, minute=0):
    return builders.at(hour - 12) + builders.minutes(minute)


@pytest.fixture
def played(manager):
    """The day of the example, at its end."""
    manager.clock.now = at(0)
    first, second = manager.enrol(2, rack='r1')
    manager.client.update_resource(builders.an_admin(), 'host', second.id, {'rack': 'r2'})
    both = manager.create(builders.a_lease(builders.hosts(2), start=at(12), end=at(16)), BLUE)
    manager.run_until(at(13))
    with pytest.raises(errors.NotEnough):
        manager.create(builders.a_lease(start=at(15), end=at(17)), GREEN)
    _idle(manager, both, second, 14, 15)
    manager.run_until(at(15, 59))
    # The teardown of the lease takes half an hour.
    manager.clock.now = at(16, 30)
    manager.run()
    early = manager.create(builders.a_lease(
        builders.hosts(1, criteria='["==", "$rack", "r2"]'), start=at(18), end=at(22)), GREEN)
    manager.create(builders.a_lease(records.ReservationRequest('virtual:instance', {
        'amount': 3, 'vcpus': 2, 'memory_mb': 1024, 'disk_gb': 10}), start=at(18), end=at(20)),
        GREEN)
    manager.run_until(at(20))
    manager.client.delete_lease(GREEN, early.id)
    manager.run_until(at(23))
    manager.client.update_resource(builders.an_admin(), 'host', first.id, {}, reservable=False)
    manager.clock.now = at(24)
    return manager


def _idle(manager, lease, host, *hours):
    with manager.database.writer() as connection:
        for hour in hours:
            use_samples.add(connection, at(hour), {
                (lease.reservations[0].id, host.id): use_sampling.Sample(3600, 3600, 0.0)})


@pytest.mark.parametrize(('query', 'file'), [
    (f'usage?{MAY_1}&group_by=project,type&all_projects=true', 'usage-by-project.csv'),
    (f'usage?{MAY_1}&group_by=property:rack&all_projects=true', 'usage-by-rack.csv'),
    ('utilisation?start=2030-05-01T12:00&end=2030-05-02T00:00&step=2h&pool=host',
     'utilisation-of-hosts.csv')])
def test_the_page_has_the_numbers_of_the_story(conf, played, query, file):
    answer = builders.Api(conf, played).get(f'/v1/{query}&format=csv', **ADMIN)
    lines = [line.split(',') for line in answer.text.splitlines()]
    # Of the many classes of units, the page shows one.
    shown = [place for place, name in enumerate(lines[0])
             if name in ('allocated_VCPU_hours', 'VCPU_allocated')
             or not any(each in name.lower() for each in ('vcpu', 'memory', 'disk', 'end'))]
    found = ''.join(','.join(line[place] for place in shown) + '\n' for line in lines)
    assert found == (DOCS / file).read_text()
