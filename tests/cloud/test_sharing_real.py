# SPDX-License-Identifier: Apache-2.0
"""Leases that are shared with another project, and series of leases, on the real cloud."""
import contextlib
import datetime

import pytest
import scene as scenes

from climate.client import errors
from climate.plugins.compute import aggregates
from tools.cloud import climate_service

_NOTICE_SECONDS = 8
# Owners may choose a notice of seconds. The second day of a series comes into the horizon as soon
# as the first occurrence starts.
_OPTIONS = """
[shares]
notice_minutes = 0

[series]
horizon_days = 1
poll_seconds = 1
"""


@pytest.fixture(scope='module', autouse=True)
def options(climate, cloud):
    """The manager has these options while the tests of this file run."""
    climate_service.restart(cloud, 'climate-manager', _OPTIONS)
    yield
    climate_service.restart(cloud, 'climate-manager')


@pytest.fixture
def share(scene, alt):
    """callable(lease, **more): share a lease of demo with project alt, which may boot then."""
    def run(lease, **more):
        share = scene.climate().shares.create(
            lease['id'], 'user', project=alt.current_project_id, **more)
        scenes.until(lambda: _guests(scene, lease) == {alt.current_project_id},
                     'the hosts to be open to project alt')
        return share
    return run


def _reservation(lease):
    """Return the id of the only reservation of a lease, which is the name of its aggregate."""
    return lease['reservations'][0]['id']


def _guests(scene, lease):
    """Return the ids of the projects for which the hosts of a lease are open by shares."""
    metadata = scene.aggregate(_reservation(lease)).metadata
    return {key for key, text in metadata.items() if text == aggregates.SHARED}


def _refuse_boot(scene, lease):
    server = scene.boot('alt', reservation=_reservation(lease))
    assert server.status == 'ERROR'
    assert 'No valid host' in server.fault['message']


def _booted_by_guest(scene, lease):
    """Boot a server of project alt on the hosts of a lease; return it."""
    server = scene.boot('alt', reservation=_reservation(lease))
    assert server.status == 'ACTIVE', server.fault
    assert server.compute_host in scene.hosts_in(_reservation(lease))
    return server


def _visible(scene, person='alt'):
    return {lease['id']: lease['shared'] for lease in scene.climate(person).leases.list()}


def test_a_project_boots_on_shared_hosts_until_the_share_is_withdrawn(scene, share):
    lease = scene.lease()
    _refuse_boot(scene, lease)
    assert lease['id'] not in _visible(scene)

    made = share(lease)
    assert _visible(scene)[lease['id']]['role'] == 'user'
    server = _booted_by_guest(scene, lease)

    withdrawal = scene.climate().shares.delete(lease['id'], made['id'])
    assert [(each['id'], each['fate'], each['at']) for each in withdrawal['servers']] == [
        (server.id, 'kept', None)]
    _refuse_boot(scene, lease)
    assert lease['id'] not in _visible(scene)
    # The owner still boots beside the server that was kept.
    assert scene.boot(reservation=_reservation(lease)).status == 'ACTIVE'
    assert scene.booted(server.id).status == 'ACTIVE'

    scene.climate().leases.end(lease['id'])
    scene.wait(lease['id'], 'terminated')
    assert not scene.exists(server.id)


@pytest.mark.parametrize('fate', ['stop', 'delete'])
def test_servers_of_a_withdrawn_share_are_removed_after_the_notice(scene, share, fate):
    lease = scene.lease()
    made = share(lease, on_withdrawal=fate, notice=_NOTICE_SECONDS)
    server = _booted_by_guest(scene, lease)
    own = scene.boot(reservation=_reservation(lease))

    withdrawal = scene.climate().shares.delete(lease['id'], made['id'])
    [loss] = withdrawal['servers']
    assert (loss['id'], loss['fate']) == (server.id, {'stop': 'stopped', 'delete': 'deleted'}[fate])
    _refuse_boot(scene, lease)

    def is_removed():
        if fate == 'delete':
            return not scene.exists(server.id)
        return scene.people['admin'].compute.get_server(server.id).status == 'SHUTOFF'
    scenes.until(is_removed, f'the server of project alt: {fate}')
    assert scenes.seconds_since(loss['at']) > 0
    assert scene.booted(own.id).status == 'ACTIVE'


def _revoke(scene, person):
    """Revoke the token of a person: from then on, only trusts act for the person."""
    token = scene.people[person].session.get_token()
    scene.people['admin'].identity.delete(
        '/auth/tokens', headers={'X-Subject-Token': token}).raise_for_status()
    scene.people[person].session.invalidate()


def _occurrences(scene, series):
    return scene.climate().series.get(series['id'])['occurrences']


def test_the_trust_of_a_series_books_its_later_occurrences_and_goes_with_the_last(scene, guest):
    before = scene.trusts()
    start = datetime.datetime.now(scenes.UTC) + datetime.timedelta(seconds=20)
    series = scene.climate('guest').series.create(
        scene.name(), start=start.replace(microsecond=0), duration='10m', time_zone='UTC',
        repeat='every day for 2 times', mode='all_or_nothing', reservations=[
            {'resource_type': 'physical:host', 'min': 1, 'max': 1}])
    _cancel_afterwards(scene, series)
    _revoke(scene, 'guest')
    [first] = series['occurrences']
    assert first['status'] == 'booked'
    [trust] = scene.trusts() - before

    lease = scene.wait(first['lease_id'], 'active')
    assert lease['series_id'] == series['id']
    server = scene.boot(reservation=_reservation(lease))
    assert server.compute_host in scene.hosts_in(_reservation(lease))

    def second():
        return next((each for each in _occurrences(scene, series)
                     if (each['number'], each['status']) == (2, 'booked')), None)
    later = scenes.until(second, 'the second occurrence to be booked', 40)
    assert scenes.days_between(first['start'], later['start']) == 1
    assert scene.climate('admin').leases.get(later['lease_id'])['user_id'] == guest.id
    assert scene.trusts() - before == {trust}

    scene.climate('guest').series.cancel(series['id'])
    scenes.until(lambda: scene.climate('admin').leases.get(later['lease_id'])['deleted_at'],
                 'the second lease to be deleted')
    # The lease that runs is kept, and so is the trust.
    assert scene.wait(lease['id'], 'active')
    assert scene.trusts() - before == {trust}
    scene.climate().leases.delete(lease['id'])
    scenes.until(lambda: scene.trusts() == before, 'the trust of the series to be deleted')
    assert not scene.exists(server.id)
    assert not scene.aggregate(_reservation(lease))


def _cancel_afterwards(scene, series):
    """Have the series and its leases deleted when the test is over, even if it fails."""
    def cancel():
        with contextlib.suppress(errors.ClientError):
            scene.climate('admin').series.cancel(series['id'])
    scene.afterwards(cancel)
    for occurrence in series['occurrences']:
        scene.remember(occurrence['lease_id'])
