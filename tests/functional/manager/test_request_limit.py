# SPDX-License-Identifier: Apache-2.0
"""The bytes of the requests of one project have a limit."""
import pytest
import sqlalchemy as sa
from support import builders
from support import thinning

from climate.db import tables

NEW = {'version': '1.1'}
LIMIT = 500_000
LONG = 'x' * 200_000
TEMPLATE = {'heat_template_version': '2021-04-16', 'parameters': {'a': {'type': 'string'}},
            'resources': {'word': {'type': 'OS::Heat::RandomString'}}}
STACK = {'resource_type': 'virtual:stack', 'template': TEMPLATE, 'parameters': {'a': 'b'}}
HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
# A host is chosen by the first part.
CRITERIA = ['or', ['>', '$vcpus', '0'], *(['=', '$hypervisor_type', f'{number:0500}']
                                          for number in range(100))]
LARGE = {
    'a template': [{**STACK, 'template': {**TEMPLATE, 'description': LONG}}],
    'a template as text': [{**STACK, 'template': 'heat_template_version: 2021-04-16\nparameters: '
                            f'{{a: {{type: string}}}}\nresources: {{}}\n# {LONG}'}],
    'files': [{**STACK, 'files': {'a.sh': LONG}}],
    'parameters': [{**STACK, 'parameters': {'a': LONG}}],
    'an environment': [{**STACK, 'environment': '# ' + LONG}],
    'criteria': [{**HOST, 'resource_properties': CRITERIA}],
    'labels': [{**STACK, 'label': f'{number:064}', 'depends_on': [
        f'{other:064}' for other in range(number)]} for number in range(60)],
    'reservations': [STACK] * 100,
}


@pytest.fixture
def api(conf, manager):
    conf.set_override('request_bytes_per_project', LIMIT, group='manager')
    manager.enrol(12)
    return builders.Api(conf, manager)


def body(*reservations, **more):
    return {'name': 'x', 'start': '+1h', 'duration': '1h', 'reservations': list(reservations),
            **more}


def create(api, *reservations, token=builders.DEMO, **more):
    return api.post('/v1/leases', body(*reservations, **more), token=token, **NEW)


def created(answer):
    """Return whether a request was carried out; it was refused by the limit otherwise."""
    if answer.status_int in (200, 201):
        return True
    assert (answer.status_int, answer.json['error_name']) == (409, 'too_many_request_bytes'), (
        answer.text)
    message = answer.json['error_message']
    assert 'of at most 500000 bytes (request_bytes_per_project): delete' in message
    assert 'operator' in message
    assert answer.json['details']['most'] == LIMIT
    return False


def stored(manager):
    """Return the number of bytes of all requests in the database."""
    with manager.database.reader() as connection:
        return sum(connection.execute(sa.select(sa.func.sum(sa.func.length(sa.cast(
            column, sa.Text))))).scalar() or 0 for column in (
                tables.RESERVATIONS.c.request, tables.RESERVATIONS.c.secrets,
                tables.RESERVATIONS.c.depends_on, tables.OFFERS.c.request,
                tables.OFFERS.c.secrets))


@pytest.mark.proof
@pytest.mark.parametrize('reservations', thinning.few(LARGE.values(), 3, is_tuple=True), ids=LARGE)
def test_a_request_beyond_the_limit_is_refused_and_names_the_way_out(api, manager, reservations):
    done = [created(create(api, *reservations)) for _ in range(12)]
    assert done[0] and not done[-1]
    assert done == sorted(done, reverse=True)
    assert stored(manager) <= LIMIT
    assert create(api, STACK, token=builders.STRANGER).status_int == 201


def test_stored_notifications_count_towards_the_limit(api):
    moments = [{'type': 'notify', 'time': f'2030-05-01 13:{number // 60:02}:{number % 60:02}'}
               for number in range(100)]
    for _ in range(2):
        assert created(create(api, *LARGE['files']))
    lease = create(api, STACK, events=moments).json['lease']
    done = [created(api.put(f'/v1/leases/{lease["id"]}', {'events': moments}, **NEW))
            for _ in range(5)]
    assert done[0] and not done[-1]


@pytest.mark.proof
def test_an_update_beyond_the_limit_is_refused_and_one_that_needs_less_is_not(api):
    leases = [create(api, HOST, start=f'+{2 * number + 1}h').json['lease'] for number in range(9)]

    def change(lease, criteria):
        return api.put(f'/v1/leases/{lease["id"]}', {'reservations': [
            {'id': lease['reservations'][0]['id'], 'resource_properties': criteria}]}, **NEW)
    done = [created(change(lease, CRITERIA)) for lease in leases]
    assert done[0] and not done[-1]
    assert created(api.put(f'/v1/leases/{leases[-1]["id"]}', {'duration': '2h'}, **NEW))
    assert created(change(leases[0], ''))
    assert created(change(leases[-1], CRITERIA))


def test_offers_count_and_the_lease_of_an_offer_is_not_counted_twice(api):
    large = LARGE['files'][0]
    asked = {'duration': '1h', 'hold': 1, 'reservations': [large]}
    [offer] = api.post('/v1/availability', asked, **NEW).json['offers']
    assert created(create(api, large))
    assert not created(api.post('/v1/availability', asked, **NEW))
    assert not created(create(api, large))
    assert created(api.post('/v1/leases', {'name': 'taken', 'offer': offer['id']}, **NEW))
    assert not created(create(api, large))


def test_a_lease_that_is_over_counts_for_one_more_day(api, manager):
    for _ in range(2):
        lease = create(api, *LARGE['files']).json['lease']
    assert not created(create(api, *LARGE['files']))
    assert api.delete(f'/v1/leases/{lease["id"]}', **NEW).status_int == 204
    assert not created(create(api, *LARGE['files']))
    manager.clock.advance(builders.hours(24) + builders.seconds(1))
    assert created(create(api, *LARGE['files']))


def test_a_limit_of_0_is_none(api, conf):
    conf.set_override('request_bytes_per_project', 0, group='manager')
    assert all(created(create(api, *LARGE['files'])) for _ in range(4))
