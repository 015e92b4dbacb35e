# SPDX-License-Identifier: Apache-2.0
"""Filters and order of the list of leases: by text, owner, project, type, resource and time."""
import dataclasses
import itertools
import random
from urllib import parse

from oslo_policy import opts as policy_options
import pytest
from support import builders

from climate import context
from climate.domain import lifecycle
from climate.domain import status_words

NOON, at = builders.NOON, builders.at
ADMIN = builders.ADMIN


def _caller(user, project):
    """A member whose token has the names of the user and the project."""
    return context.RequestContext(
        user_id=f'id-{user}', user_name=user, project_id=f'id-{project}', project_name=project,
        roles=['member', 'reader'], overwrite=False)


@pytest.fixture
def leases(manager):
    """Leases of two projects and three users on three hosts; {name: lease}."""
    manager.enrol(3)
    anna, ben, eve = _caller('Anna', 'red'), _caller('Ben', 'red'), _caller('Eve', 'blue')
    found = {}
    for name, caller, start, end in (
            ('Training run', anna, 0, 2), ('training 100%', ben, 24, 30),
            ('night_batch', anna, 48, 50), ('Secret training', eve, 0, 60)):
        found[name] = manager.create(builders.a_lease(
            name=name, start=at(start), end=at(end)), caller)
        manager.clock.advance(builders.seconds(1))
    manager.run()
    return found


@pytest.fixture
def find(api, leases):
    """callable(query, token): the sorted names of the leases that a query finds."""
    def ask(token='id-Anna:id-red:member,reader', status=200, **query):
        answer = api.get(f'/v1/leases?{parse.urlencode(query)}', version='1.1', token=token)
        assert answer.status_int == status, answer.body
        if status != 200:
            return answer.json['error_message']
        return [lease['name'] for lease in answer.json['leases']]
    return ask


@pytest.fixture
def ruled(conf, manager, tmp_path):
    """callable(rule): an Api with that policy."""
    def make(rule):
        path = tmp_path / 'policy.yaml'
        path.write_text(rule)
        policy_options.set_defaults(conf)
        conf.set_override('policy_file', str(path), group='oslo_policy')
        return builders.Api(conf, manager)
    return make


RED = ['Training run', 'training 100%', 'night_batch']


@pytest.mark.parametrize(('query', 'names'), [
    ({}, RED),
    ({'search': 'TRAIN'}, RED[:2]),
    ({'search': 'ning r'}, RED[:1]),
    ({'search': '100%'}, RED[1:2]),
    ({'search': '%'}, RED[1:2]),
    ({'search': 't_b'}, RED[2:]),
    ({'search': 'nothing'}, []),
    ({'owner': 'Anna'}, [RED[0], RED[2]]),
    ({'owner': 'id-Anna'}, [RED[0], RED[2]]),
    ({'owner': 'Eve'}, []),
    ({'project': 'id-red'}, RED),
    ({'resource_type': 'physical:host'}, RED),
    ({'resource_type': 'virtual:instance'}, []),
    ({'starts_before': '2030-05-02T13:00:00Z', 'ends_after': '2030-05-01T15:00:00Z'}, RED[1:2]),
    ({'owner': 'Ben', 'search': 'run'}, []),
])
def test_filters_select_leases(find, query, names):
    assert find(**query) == names


def test_an_id_is_found_by_its_beginning(find, leases):
    assert find(search=leases['night_batch'].id[:10].upper()) == ['night_batch']


@pytest.mark.parametrize(('query', 'names'), [
    ({'all_projects': 1, 'search': 'secret'}, ['Secret training']),
    ({'project': 'blue'}, ['Secret training']),
    ({'project': 'id-blue'}, ['Secret training']),
    ({'project': 'red', 'owner': 'Ben'}, ['training 100%']),
    ({'project': 'none'}, []),
    ({'all_projects': 1, 'sort': 'project,name'},
     ['Secret training', 'Training run', 'night_batch', 'training 100%']),
    ({'all_projects': 1, 'sort': 'owner:desc,name:desc'},
     ['Secret training', 'training 100%', 'night_batch', 'Training run']),
    ({'all_projects': 1, 'sort': 'status:desc,created_at'},
     ['Training run', 'Secret training', 'training 100%', 'night_batch']),
])
def test_an_administrator_filters_and_sorts_by_names(find, query, names):
    assert find(token=ADMIN, **query) == names


def test_a_resource_and_a_time_tell_who_has_it(find, api, manager, leases):
    taken = {name: manager.client.get_lease(builders.an_admin(), lease.id)
             .reservations[0].resource_ids[0] for name, lease in leases.items()}
    on_first = [name for name in taken if taken[name] == taken['Secret training']]
    host = f'compute-{taken["Secret training"]}'
    every = {'token': ADMIN, 'all_projects': 1}
    assert find(resource=host, **every) == on_first
    assert find(resource=taken['Secret training'], **every) == on_first
    assert find(resource=host, ends_after='2030-05-03T20:00:00Z', **every) == ['Secret training']
    assert find(resource=host, starts_before='2030-05-01T12:00:00Z', **every) == []


def test_the_time_of_a_resource_is_that_of_its_allocation(find, api, manager, leases):
    lease = leases['Secret training']
    [before] = manager.client.get_lease(
        builders.an_admin(), lease.id).reservations[0].resource_ids
    manager.run_until(at(1))
    answer = api.post(f'/v1/leases/{lease.id}/swap', {'resource': str(before)}, version='1.1',
                      token='id-Eve:id-blue:member,reader')
    assert answer.status_int == 202, answer.body
    manager.run_until(at(3))
    every = {'token': ADMIN, 'project': 'blue', 'resource': f'compute-{before}'}
    assert find(**every) == ['Secret training']
    assert find(starts_before='2030-05-01T13:00:00Z', **every) == ['Secret training']
    assert find(ends_after='2030-05-01T14:00:00Z', **every) == []


@pytest.mark.parametrize(('query', 'status', 'says'), [
    ({'search': ''}, 400, 'search'),
    ({'search': 'x' * 256}, 400, 'search: it must have 1 to 255 characters'),
    ({'owner': ''}, 400, 'owner'),
    ({'project': ''}, 400, 'project'),
    ({'resource': ''}, 400, 'resource'),
    ({'resource_type': 'host'}, 400, 'resource_type: "host" is none of flavor:instance, '),
    ({'resource': '1', 'resource_id': '1'}, 400, 'not both'),
    ({'sort': 'colour'}, 400, 'created_at, start, end, name, status, owner, project, id'),
    ({'starts_before': 'whenever'}, 400, 'starts_before'),
    ({'project': 'blue'}, 403, 'climate:leases:get_all_projects'),
    ({'project': 'id-blue'}, 403, 'climate:leases:get_all_projects'),
    ({'all_projects': 1}, 403, 'climate:leases:get_all_projects'),
    ({'resource': 'compute-1'}, 403, 'climate:leases:get_resource_names'),
])
def test_a_wrong_filter_is_refused_and_named(find, query, status, says):
    assert says in find(status=status, **query)


def test_a_resource_that_does_not_exist_is_refused(find):
    assert 'no resource is called "compute-77"' in find(
        token=ADMIN, status=400, all_projects=1, resource='compute-77')
    assert find(token=ADMIN, all_projects=1, resource='77') == []


def test_names_are_shown_with_the_lease(api, leases):
    path = f'/v1/leases/{leases["Training run"].id}'
    for token, names in (('id-Ben:id-red:member,reader', ('Anna', 'red')),
                         (ADMIN, ('Anna', 'red'))):
        lease = api.get(path, version='1.1', token=token).json['lease']
        assert (lease['user_name'], lease['project_name']) == names
        assert (lease['user_id'], lease['project_id']) == ('id-Anna', 'id-red')
    assert 'user_name' not in api.get(path, token=ADMIN).json['lease']


def test_a_timeline_names_the_owners_of_the_leases_that_it_shows(api, leases):
    for token, expected in ((ADMIN, {('Anna', 'red'), ('Ben', 'red'), ('Eve', 'blue')}),
                            ('id-Eve:id-blue:member,reader', {('Eve', 'blue')})):
        shown = api.get('/v1/timeline', version='1.1', token=token).json['timeline']['leases']
        assert {(lease['user_name'], lease['project_name']) for lease in shown} == expected


def test_policy_hides_names_from_responses_filters_and_order(ruled, leases):
    api, token = ruled('"climate:leases:get_names": "rule:admin"'), 'id-Ben:id-red:member,reader'
    for lease in api.get('/v1/leases?sort=owner', version='1.1', token=token).json['leases']:
        assert (lease['user_name'], lease['project_name']) == (None, None)
    for owner, count in (('Anna', 0), ('id-Anna', 2)):
        answer = api.get(f'/v1/leases?owner={owner}', version='1.1', token=token)
        assert len(answer.json['leases']) == count


def test_allocations_name_the_lease_and_its_owner(api, leases):
    answer = api.get('/v1/os-hosts/allocations', version='1.1', token=ADMIN).json
    shown = {entry['lease_name']: entry for resource in answer['allocations']
             for entry in resource['reservations']}
    assert set(shown) == set(leases)
    entry = shown['Secret training']
    assert {name: entry[name] for name in ('user_id', 'user_name', 'project_id', 'project_name')
            } == {'user_id': 'id-Eve', 'user_name': 'Eve', 'project_id': 'id-blue',
                  'project_name': 'blue'}
    old = api.get('/v1/os-hosts/allocations', token=ADMIN).json['allocations']
    assert all('lease_name' not in entry for resource in old for entry in resource['reservations'])


def test_allocations_hide_leases_that_the_caller_may_not_see(ruled, leases):
    answer = ruled('"climate:oshosts:get_allocations": "role:member"').get(
        '/v1/os-hosts/allocations', version='1.1', token='id-Ben:id-red:member,reader').json
    names = [entry['lease_name'] for resource in answer['allocations']
             for entry in resource['reservations']]
    assert sorted(names, key=str) == sorted([*RED, None], key=str)


def _pages(api, query, token):
    """The ids of the leases of all pages of a list, page by page."""
    path, pages = f'/v1/leases?{query}', []
    while path and len(pages) < 50:
        answer = api.get(path, version='1.1', token=token)
        assert answer.status_int == 200, answer.body
        pages.append([lease['id'] for lease in answer.json['leases']])
        links = answer.json.get('leases_links')
        path = links[0]['href'] if links else None
    return pages


@pytest.fixture
def many(manager):
    """Sixty leases of three projects with few different names, starts and owners."""
    made, projects = random.Random(5), {}
    manager.enrol(1)
    for _ in range(60):
        user, project = made.choice('abc'), made.choice(['red', 'blue', 'green'])
        start = made.randrange(1, 4)
        request = builders.a_lease(name=made.choice(['x', 'X', 'y%', 'zz']), start=at(start),
                                   end=at(start + made.randrange(1, 4)))
        lease = manager.create(dataclasses.replace(request, reservations=()),
                               _caller(user, project))
        projects[lease.id] = f'id-{project}'
    return projects


@pytest.mark.proof
def test_no_filter_order_or_page_shows_a_lease_of_another_project(api, many):
    made = random.Random(7)
    values = {
        'search': ['x', 'y', '%', '_', 'id', *list(many)[:9]], 'name': ['x', 'zz'],
        'owner': ['a', 'id-b', 'c'], 'project': ['red', 'id-red'], 'project_id': ['id-red'],
        'status': ['inactive', 'active,inactive', 'error'],
        'resource_type': ['physical:host'], 'resource': ['1'], 'resource_id': ['1'],
        'starts_before': ['2030-05-01T15:00:00Z'], 'ends_after': ['2030-05-01T15:00:00Z'],
        'idle': ['true', 'false'], 'marker': list(many)}
    keys = ('created_at', 'start', 'end', 'name', 'status', 'owner', 'project', 'id')
    own = {key for key, project in many.items() if project == 'id-red'}
    for _ in range(300):
        chosen = {name: made.choice(values[name]) for name in made.sample(
            sorted(values), made.randrange(4)) if name != 'project' or made.random() < .5}
        chosen['sort'] = ','.join(f'{key}:{made.choice(["asc", "desc"])}' for key in made.sample(
            keys, made.randrange(1, 4)))
        answer = api.get(f'/v1/leases?{parse.urlencode(chosen)}', version='1.1',
                         token='id-a:id-red:member,reader')
        if answer.status_int == 404:
            # A lease of another project is no marker.
            assert chosen['marker'] not in own
            continue
        if answer.status_int in (400, 403):
            assert chosen.get('project') == 'red' or {'resource', 'resource_id'} <= set(chosen)
            continue
        assert answer.status_int == 200, answer.body
        assert {lease['id'] for lease in answer.json['leases']} <= own


@pytest.mark.proof
def test_pages_have_every_lease_once_in_every_order(api, many):
    keys = ('created_at', 'start', 'end', 'name', 'status', 'owner', 'project')
    for first, second in itertools.permutations(keys, 2):
        for ways in (('asc', 'desc'), ('desc', 'asc')):
            query = parse.urlencode({'all_projects': 1, 'limit': 17,
                                     'sort': f'{first}:{ways[0]},{second}:{ways[1]}'})
            pages = _pages(api, query, ADMIN)
            assert [len(page) for page in pages] == [17, 17, 17, 9]
            assert {key for page in pages for key in page} == set(many)


def test_every_state_and_task_has_a_place_in_the_order():
    assert set(status_words.STATE_RANKS) == set(lifecycle.STATES)
    assert set(status_words.TASK_RANKS) == set(lifecycle.TASKS)
