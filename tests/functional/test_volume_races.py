# SPDX-License-Identifier: Apache-2.0
"""Many concurrent requests for the last capacity of a storage back end.

CLIMATE_RACE_ROUNDS says how often it is tried; a few times by default.
"""
import pytest
from support import builders
from support import crowds
import test_booking_races as races

from climate.api import app
from climate.plugins import registry

TYPES = ['virtual:volume']
HDD = 'storage@hdd#hdd'


@pytest.fixture
def conf(conf):
    """The configuration, with volumes only."""
    registry.register_options(conf, registry.load(TYPES))
    conf.set_override('plugins', TYPES)
    return conf


@pytest.fixture
def manager(conf, database, clock):
    """A manager with one back end of 500 GB, of which 100 are left."""
    found = builders.Manager(conf, database, clock, classes=registry.load(TYPES))
    found.client.create_resource(builders.an_admin(), 'backend', HDD, {})
    found.create(builders.a_lease(builders.records.ReservationRequest(
        'virtual:volume', {'size_gb': 400, 'on_end': 'delete'}), end=builders.NOON
        + builders.hours(9), name='the first 400 GB'))
    return found


@pytest.fixture
def api(conf, manager):
    return builders.Api(conf, manager, plugins=registry.load(TYPES))


@pytest.fixture
def crowd(conf, manager):
    found = crowds.Crowd(app.build(conf, manager.client, registry.load(TYPES)), races.CALLERS)
    yield found
    found.leave()


@pytest.mark.parametrize(('size_gb', 'amount', 'give', 'winners'), [
    (30, 1, 'volumes', 3), *(pytest.param(*each, marks=pytest.mark.proof) for each in (
        (100, 1, 'volumes', 1), (100, 1, 'type', 1), (20, 2, 'volumes', 2)))])
def test_sixteen_concurrent_requests_share_the_last_capacity_without_overbooking(
        manager, api, crowd, size_gb, amount, give, winners):
    for _ in range(races.ROUNDS):
        answers = crowd.ask('post_json', '/v1/leases', [
            {'name': f'lease {number}', 'end': '2030-05-01 13:00', 'reservations': [
                {'resource_type': 'virtual:volume', 'size_gb': size_gb, 'amount': amount,
                 'give': give, 'on_end': 'delete'}]}
            for number in range(races.CALLERS)],
            [{'OpenStack-API-Version': 'reservation 1.1'}] * races.CALLERS)
        assert crowds.statuses(answers) == {201: winners, 409: races.CALLERS - winners}
        for answer in answers:
            if answer.status_code == 409:
                assert f'of {size_gb} GB' in answer.json['error_message']
        left = [each['id'] for each in api.get('/v1/leases').json['leases']
                if each['name'] != 'the first 400 GB']
        assert len(left) == winners
        for lease_id in left:
            assert api.delete(f'/v1/leases/{lease_id}').status_code < 300
        # The capacity is free again only after the end in the cloud.
        manager.run()
    volumes = manager.cloud.as_service().volumes
    assert [each.size_gb for each in volumes.every()] == [400]
