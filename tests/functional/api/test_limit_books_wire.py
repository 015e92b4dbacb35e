# SPDX-License-Identifier: Apache-2.0
"""The limit book on the wire: versions, refusals, and what members may not see."""
import json
import pathlib

import pytest
from support import billing_cases
from support import builders

from climate import yaml_text
from climate.client.commands import limit_book
from climate.manager.limits import books

PAGES = pathlib.Path(__file__).parents[3] / 'doc' / 'source' / 'admin'
V = '1.1'
URL = '/v1/limit-books'
BOOK = {
    'description': 'Rules of 2030',
    'limits': [
        {'name': 'four-leases', 'measure': 'open_leases', 'most': 4},
        {'name': 'waiting', 'measure': 'waiting_leases', 'most': '3', 'per': 'user'},
        {'name': 'core-quarter', 'measure': 'resource_hours', 'most': 100_000, 'unit': 'vcpus',
         'window': '90d', 'pool': 'host'},
        {'name': 'half', 'measure': 'pool_share', 'most': 50, 'pool': 'host',
         'hours': {'days': ['mon'], 'from': '08:00', 'to': '18:00', 'timezone': 'Europe/Berlin'}},
        {'name': 'week', 'measure': 'lease_length', 'most': '7d', 'projects': ['p1']},
        {'name': 'notice', 'measure': 'notice', 'least': 345_600}],
    'extensions': [{'name': 'last-days', 'within': '25%', 'most': '7d', 'times': 3}],
}
LIMIT = BOOK['limits'][0]


def _created(api, **changes):
    return api.post(URL, {**BOOK, **changes}, token=builders.ADMIN, version=V)


def test_a_limit_book_is_created_listed_and_shown(api):
    answer = _created(api)
    assert answer.status_int == 201, answer.json
    assert answer.headers['Location'].endswith('/v1/limit-books/1')
    book = answer.json['limit_book']
    assert {name: book[name] for name in BOOK} == BOOK
    assert (book['version'], book['valid_until']) == (1, None)
    assert _created(api, limits=[], valid_from='+1h').status_int == 201
    books = api.get(URL, token=builders.ADMIN, version=V).json['limit_books']
    assert [(each['version'], each['valid_until']) for each in books] == [
        (1, books[1]['valid_from']), (2, None)]
    for path, version in (('valid', 1), ('2', 2)):
        shown = api.get(f'{URL}/{path}', token=builders.ADMIN, version=V).json['limit_book']
        assert shown['version'] == version


def test_a_version_that_does_not_exist_is_not_found(api):
    for path, name in (('valid', 'no_limit_book'), ('7', 'limit_book_not_found'),
                       ('9' * 30, 'limit_book_not_found'), ('x', 'limit_book_not_found')):
        answer = api.get(f'{URL}/{path}', token=builders.ADMIN, version=V)
        assert (answer.status_int, answer.json['error_name']) == (404, name)


def test_members_see_no_limit_book(api):
    _created(api)
    for answer in (api.get(URL, version=V), api.get(f'{URL}/valid', version=V),
                   api.get(f'{URL}/1', version=V), api.post(URL, BOOK, version=V)):
        assert (answer.status_int, answer.json['error_name']) == (403, 'forbidden')


def test_rest_1_0_has_no_limit_books(api):
    assert api.get(URL, token=builders.ADMIN, version='1.0').status_int == 404


@pytest.mark.parametrize('changes, field', [
    ({'limits': None}, 'limits'), ({'colour': 'red'}, 'body'),
    ({'limits': [LIMIT] * 501}, 'limits'), ({'limits': [{**LIMIT, 'colour': 'red'}]}, 'limits.0'),
    ({'limits': [{**LIMIT, 'name': ''}]}, 'limits.0.name'),
    ({'limits': [{**LIMIT, 'name': 'a\0b'}]}, 'name'),
    ({'limits': [{**LIMIT, 'name': 'x' * 65}]}, 'limits.0.name'),
    ({'limits': [{**LIMIT, 'measure': 'speed'}]}, 'limits.0.measure'),
    ({'limits': [{'name': 'a', 'measure': 'resources'}]}, 'limits.0.most'),
    ({'limits': [{**LIMIT, 'most': -1}]}, 'limits.0.most'),
    ({'limits': [{**LIMIT, 'most': 1.5}]}, 'limits.0.most'),
    ({'limits': [{**LIMIT, 'most': 'NaN'}]}, 'limits.0.most'),
    ({'limits': [{**LIMIT, 'most': True}]}, 'limits.0.most'),
    ({'limits': [{**LIMIT, 'most': 10 ** 300}]}, 'limits.0.most'),
    ({'limits': [{**LIMIT, 'projects': []}]}, 'limits.0.projects'),
    ({'limits': [{**LIMIT, 'projects': ['p', 'p']}]}, 'limits.0.projects'),
    ({'limits': [LIMIT, {**LIMIT, 'name': 'b'}]}, 'limits.1'),
    ({'limits': [{**LIMIT, 'pool': 'moon'}]}, 'limits.0.pool'),
    ({'limits': [{**LIMIT, 'resource_type': 'moon'}]}, 'limits.0.resource_type'),
    ({'limits': [{**LIMIT, 'measure': 'resources', 'unit': 'wheels'}]}, 'limits.0.unit'),
    ({'limits': [{**LIMIT, 'measure': 'resources', 'criteria': ['=', '$moon', '1']}]},
     'limits.0.criteria'),
    ({'limits': [{**LIMIT, 'measure': 'resources', 'criteria': 'gpu=A100'}]}, 'limits.0.criteria'),
    ({'limits': [{**BOOK['limits'][2], 'window': '0s'}]}, 'limits.0.window'),
    ({'limits': [{**BOOK['limits'][3], 'hours': {
        'days': ['monday'], 'from': '08:00', 'to': '18:00'}}]}, 'limits.0.hours.days.0'),
    ({'limits': [{**BOOK['limits'][3], 'hours': {
        'days': ['mon'], 'from': '18:00', 'to': '08:00'}}]}, 'limits.0.hours.to'),
    ({'limits': [{**BOOK['limits'][3], 'hours': {
        'days': ['mon'], 'from': '08:00', 'to': '18:00', 'timezone': '../../etc/passwd'}}]},
     'limits.0.hours.timezone'),
    ({'extensions': [{'name': 'a', 'within': '0%'}]}, 'extensions.0.within'),
    ({'extensions': [{'name': 'a', 'most': '7d', 'pool': 'moon'}]}, 'extensions.0.pool'),
    ({'valid_from': '2030-04-30T12:00:00Z'}, 'valid_from'),
])
def test_a_bad_limit_book_is_refused_with_the_name_of_the_field(api, manager, changes, field):
    manager.enrol(1)
    answer = _created(api, **changes)
    assert answer.status_int == 400, answer.json
    assert answer.json['details']['field'] == field, answer.json


def test_a_limit_without_a_measure_is_refused(api):
    answer = _created(api, limits=[{'name': 'a', 'most': 1}])
    assert answer.status_int == 400
    assert 'measure' in answer.json['error_message']


@pytest.mark.parametrize('most', ['NaN', 'Infinity', '1e999'])
def test_a_number_that_json_does_not_have_is_refused(api, most):
    raw = json.dumps({**BOOK, 'limits': [{**LIMIT, 'most': '?'}]}).replace('"?"', most)
    answer = api.post(URL, raw=raw.encode(), token=builders.ADMIN, version=V)
    assert answer.status_int == 400, answer.json


def test_two_versions_are_not_valid_from_the_same_moment(api):
    _created(api)
    again = _created(api)
    assert (again.status_int, again.json['error_name']) == (409, 'limit_book_overlaps')


def test_a_book_has_at_most_500_limits(api, manager):
    manager.enrol(1)
    billing_cases.known(manager, 'rack')
    limits = [{**LIMIT, 'name': f'l{number}', 'measure': 'resources',
               'criteria': ['=', '$rack', str(number)]} for number in range(500)]
    assert _created(api, limits=limits).status_int == 201
    answer = _created(api, limits=[*limits, {**LIMIT, 'name': 'x'}], valid_from='+1h')
    assert (answer.status_int, answer.json['details']['field']) == (400, 'limits')


@pytest.mark.parametrize('path', sorted(PAGES.glob('limits-*.yaml')), ids=lambda path: path.name)
def test_each_example_of_the_documentation_is_accepted(api, manager, path):
    manager.enrol(1)
    billing_cases.known(manager, 'gpu')
    sent = limit_book.with_criteria(yaml_text.read(path.read_text()), path.name)
    answer = api.post(URL, sent, token=builders.ADMIN, version=V)
    assert answer.status_int == 201, answer.json
    assert books.known(manager.core, manager.clock()).limits
