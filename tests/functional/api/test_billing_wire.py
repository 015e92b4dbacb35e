# SPDX-License-Identifier: Apache-2.0
"""Price books, prices and statements on the wire."""
import csv
import io
import json

import pytest
from support import billing_cases as cases
from support import builders

V = '1.1'
BOOK = {**cases.BOOK, 'peak_hours': {'timezone': 'Europe/Berlin', 'windows': [
    {'days': ['mon', 'tue'], 'from': '08:00', 'to': '18:00', 'percent': '25'}]}}


def created(api, **changes):
    return api.post('/v1/price-books', {**BOOK, **changes}, token=builders.ADMIN, version=V)


def test_a_price_book_is_created_listed_and_shown(api):
    answer = created(api)
    assert answer.status_int == 201
    assert answer.headers['Location'].endswith('/v1/price-books/1')
    made = answer.json['price_book']
    assert made['version'] == 1
    assert made['valid_from'] == '2030-05-01T12:00:00Z'
    assert made['rates'] == BOOK['rates']
    created(api, valid_from='2030-06-01T00:00:00Z')
    books = api.get('/v1/price-books', token=builders.ADMIN, version=V).json['price_books']
    assert [(each['version'], each['valid_until']) for each in books] == [
        (1, '2030-06-01T00:00:00Z'), (2, None)]
    assert api.get('/v1/price-books/2', token=builders.ADMIN, version=V).json[
        'price_book']['version'] == 2


def test_a_dry_run_shows_what_a_late_cancellation_costs(api, manager):
    created(api, late_cancel={'hours': '24', 'percent': '50'}, short_notice={
        'hours': '1', 'percent': '0'}, peak_hours={'timezone': 'UTC', 'windows': [{
            'days': ['sun'], 'from': '08:00', 'to': '18:00', 'percent': '25'}]})
    manager.enrol(1)
    lease = api.post('/v1/leases', {
        'name': 'demo', 'start': '2030-05-01 14:00', 'end': '2030-05-01 18:00', 'reservations': [
            {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}, version=V).json['lease']
    url = f'/v1/leases/{lease["id"]}'
    cost = {'amount': '2.00', 'currency': 'EUR', 'lines': [{
        'kind': 'late_cancel', 'amount': '2.00', 'price_book': 1, 'percent': '50'}]}
    assert api.delete(f'{url}?dry_run=true', version=V).json == {
        'losses': [], 'late_cancel': cost}
    shorter = {'end': '2030-05-01 16:00'}
    changed = api.put(f'{url}?dry_run=true', shorter, version=V).json
    assert changed['late_cancel']['amount'] == '0.50'
    # The fee, two hours, and half of the price of the other two.
    assert changed['lease']['price']['amount'] == '3.50'
    assert 'late_cancel' not in api.put(
        f'{url}?dry_run=true', {'end': '2030-05-01 19:00'}, version=V).json
    assert 'late_cancel' not in api.get(url, version=V).json['lease']


def test_members_see_the_valid_price_book_only(api):
    none = api.get('/v1/price-books/valid', version=V)
    assert (none.status_int, none.json['error_name']) == (404, 'no_price_book')
    created(api)
    assert api.get('/v1/price-books/valid', version=V).json['price_book']['version'] == 1
    assert api.get('/v1/price-books', version=V).status_int == 403
    assert api.get('/v1/price-books/1', version=V).status_int == 403
    assert api.post('/v1/price-books', BOOK, version=V).status_int == 403
    assert api.get('/v1/price-books', token=builders.ADMIN, version='1.0').status_int == 404


@pytest.mark.parametrize('changes, field', [
    ({'currency': 'EURO'}, 'currency'),
    ({'currency': 'XXX'}, 'currency'),
    ({'currency': 'eur'}, 'currency'),
    ({'lease_fee': '-1'}, 'lease_fee'),
    ({'lease_fee': -1}, 'lease_fee'),
    ({'lease_fee': 'NaN'}, 'lease_fee'),
    ({'lease_fee': '1' * 40}, 'lease_fee'),
    ({'lease_fee': int('1' * 40)}, 'lease_fee'),
    ({'lease_fee': '0.1234567'}, 'lease_fee'),
    ({'lease_fee': True}, 'lease_fee'),
    ({'lease_fee': 'Infinity'}, 'lease_fee'),
    ({'lease_fee': '-inf'}, 'lease_fee'),
    ({'lease_fee': '1e400'}, 'lease_fee'),
    ({'lease_fee': '٢'}, 'lease_fee'),
    ({'description': 'a\0b'}, 'description'),
    ({'rates': [{'rate': '-0.5'}]}, 'rates.0.rate'),
    ({'rates': [{'rate': '1'}, {'rate': '2', 'pool': 'moon'}]}, 'rates.1.pool'),
    ({'rates': [{'rate': '1'}, {'rate': '2', 'resource_type': 'moon'}]}, 'rates.1.resource_type'),
    ({'short_notice': {'hours': '0', 'percent': '1'}}, 'short_notice.hours'),
    ({'priority': {'percent': '-1'}}, 'priority.percent'),
    ({'idle': {'percent': '1001'}}, 'idle.percent'),
    ({'peak_hours': {'timezone': 'localtime', 'windows': BOOK['peak_hours']['windows']}},
     'peak_hours.timezone'),
    ({'rates': [{'rate': '1', 'pool': 'host'}]}, 'rates'),
    ({'rates': [{'rate': '1'}, {'rate': '2'}]}, 'rates.1'),
    ({'rates': [{'rate': '1'}, {'rate': '2', 'properties': {'a': '1'}},
                {'rate': '3', 'properties': {'b': '1'}}]}, 'rates.2'),
    ({'rates': [{'rate': '1', 'colour': 'red'}]}, 'rates.0'),
    ({'peak_hours': {'timezone': 'Mars/Base', 'windows': BOOK['peak_hours']['windows']}},
     'peak_hours.timezone'),
    ({'peak_hours': {'timezone': '../../etc/passwd', 'windows': BOOK['peak_hours']['windows']}},
     'peak_hours.timezone'),
    ({'peak_hours': {'timezone': 'UTC', 'windows': [
        {'days': ['mon'], 'from': '18:00', 'to': '08:00', 'percent': '1'}]}},
     'peak_hours.windows.0.to'),
    ({'peak_hours': {'timezone': 'UTC', 'windows': [
        {'days': ['mon'], 'from': '08:00', 'to': '25:00', 'percent': '1'}]}},
     'peak_hours.windows.0.to'),
    ({'peak_hours': {'timezone': 'UTC', 'windows': [
        {'days': ['mon'], 'from': '08:00', 'to': '12:00', 'percent': '1'},
        {'days': ['mon'], 'from': '11:00', 'to': '12:00', 'percent': '1'}]}},
     'peak_hours.windows.1'),
    ({'early_end': {'credit_percent': '101'}}, 'early_end.credit_percent'),
    ({'valid_from': '2030-04-30T12:00:00Z'}, 'valid_from'),
    ({'discount': '1'}, 'body'),
])
def test_a_bad_price_book_is_refused_with_the_name_of_the_field(api, changes, field):
    answer = created(api, **changes)
    assert answer.status_int == 400
    assert answer.json['details']['field'] == field, answer.json


def test_versions_do_not_overlap_and_keep_the_currency(api):
    created(api)
    again = created(api)
    assert (again.status_int, again.json['error_name']) == (409, 'price_book_overlaps')
    other = created(api, currency='USD', valid_from='+1h')
    assert other.json['details']['field'] == 'currency'


def test_a_version_for_a_month_that_is_closed_is_refused(api, manager):
    created(api)
    manager.clock.now = cases.day(6, 20)
    answer = created(api, valid_from='2030-05-10T00:00:00Z')
    assert answer.status_int == 400
    assert answer.json['details']['field'] == 'valid_from'
    assert 'is in the past, whose prices are fixed' in answer.json['error_message']
    assert created(api, valid_from='2030-06-20T00:00:00Z').status_int == 201


def test_a_book_of_as_many_rates_as_there_may_be_is_taken_and_one_more_is_not(
        api, manager):
    manager.enrol(1)
    cases.known(manager, 'rack')
    rates = [{'rate': '1'}] + [{'rate': '2', 'properties': {'rack': str(number)}}
                               for number in range(499)]
    assert created(api, rates=rates).status_int == 201
    answer = created(api, rates=[*rates, {'rate': '3', 'properties': {'rack': 'x'}}],
                     valid_from='+1h')
    assert (answer.status_int, answer.json['details']['field']) == (400, 'rates')


def test_dry_runs_and_openings_show_the_price_from_1_1_on(api, manager):
    manager.enrol(2)
    asked = {'name': 'a', 'start': '2030-05-03T00:00:00Z', 'end': '2030-05-03T10:00:00Z',
             'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]}
    path = '/v1/leases?dry_run=true'
    assert 'price' not in api.post(path, asked, version=V).json['lease']
    # Another manager has not yet read that there is no price book.
    fresh = builders.Api(manager.core.conf, builders.Manager(
        manager.core.conf, manager.database, manager.clock, manager.cloud))
    created(fresh)
    price = fresh.post(path, asked, version=V).json['lease']['price']
    assert (price['amount'], price['currency']) == ('7.00', 'EUR')
    assert [(each['kind'], each['amount']) for each in price['lines']] == [
        ('lease_fee', '2.00'), ('resource_hours', '5.00')]
    offers = fresh.post('/v1/availability', {
        'earliest': asked['start'], 'duration': '10h', 'limit': 1,
        'reservations': asked['reservations']}, version=V).json['offers']
    assert offers[0]['price']['amount'] == price['amount']
    assert len(offers[0]['price']['lines']) == len(price['lines'])
    made = fresh.post('/v1/leases', asked, version=V).json['lease']
    assert 'price' not in made
    longer = fresh.put(f'/v1/leases/{made["id"]}?dry_run=true',
                       {'end': '2030-05-03T20:00:00Z'}, version=V).json['lease']['price']
    assert longer['amount'] == '12.00'


def test_offers_show_the_price_of_a_lease_that_takes_them(api, manager):
    manager.enrol(2)
    asked = {'duration': '10h', 'earliest': '2030-05-03T00:00:00Z', 'limit': 2, 'hold': 2,
             'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]}
    created(api)
    made = api.post('/v1/availability', asked, version=V).json['offers']
    listed = api.get('/v1/offers', version=V).json['offers']
    assert len(listed) == len(made) >= 1
    for each in listed:
        assert (each['price']['amount'], each['price']['currency']) == ('7.00', 'EUR')
        shown = api.get(f'/v1/offers/{each["id"]}', version=V).json['offer']
        assert shown == each
    assert [each['price']['amount'] for each in made] == ['7.00'] * len(made)
    lease = manager.client.get_lease(builders.a_member(), api.post(
        '/v1/leases', {'name': 'a', 'offer': listed[0]['id']}, version=V).json['lease']['id'])
    manager.run_until(lease.end + builders.hours(1))
    cases.bill(manager)
    assert str(cases.total(cases.lines(manager, lease_id=lease.id))) == '7.00'


def test_statements_are_shown_to_their_project_in_json_and_csv(api, manager):
    manager.enrol(1)
    created(api)
    lease = manager.book()
    manager.run_until(builders.at(2))
    cases.bill(manager)
    assert api.get('/v1/statements', version=V).json == {'statements': [{
        'project_id': 'demo', 'month': '2030-05', 'amount': '2.60', 'currency': 'EUR',
        'leases': 1, 'lines': 3, 'closed': False}]}
    lines = api.get('/v1/statements/2030-05', version=V).json['lines']
    assert [each['amount'] for each in lines] == ['2.00', '0.50', '0.10']
    table = api.get(f'/v1/statements/2030-05?format=csv&lease_id={lease.id}', version=V)
    assert table.content_type == 'text/csv'
    assert len(table.text.splitlines()) == 4
    page = api.get('/v1/statements/2030-05?limit=2', version=V).json
    following = page['lines_links'][0]['href'].partition('localhost:80')[2] or page[
        'lines_links'][0]['href'].partition('localhost')[2]
    assert page['lines'] + api.get(following, version=V).json['lines'] == lines
    assert api.get('/v1/statements', token=builders.STRANGER, version=V).json == {'statements': []}
    assert api.get('/v1/statements/2030-05', token=builders.STRANGER, version=V).json[
        'error_name'] == 'statement_not_found'
    for query in ('all_projects=true', 'project_id=demo'):
        path = f'/v1/statements?{query}'
        assert api.get(path, token=builders.STRANGER, version=V).status_int == 403
        assert len(api.get(path, token=builders.ADMIN, version=V).json['statements']) == 1


def test_a_member_reads_no_statement_of_another_project_by_any_parameter(api, manager):
    manager.enrol(1)
    created(api)
    lease = manager.book()
    manager.run_until(builders.at(2))
    cases.bill(manager)
    stranger = {'token': builders.STRANGER, 'version': V}
    for path, status in (
            (f'/v1/statements?lease_id={lease.id}', 200),
            (f'/v1/statements/2030-05?lease_id={lease.id}', 404),
            (f'/v1/statements/2030-05?marker={lease.id}/1', 200),
            ('/v1/statements/2030-05?project_id=demo', 403),
            ('/v1/statements/2030-05?all_projects=true', 403),
            (f'/v1/statements/2030-05?format=csv&lease_id={lease.id}', 404),
            ('/v1/statements?marker=2030-05/demo', 200)):
        answer = api.get(path, **stranger)
        assert answer.status_int == status, path
        assert lease.id not in answer.text.replace(path, '')
        assert '2.00' not in answer.text


@pytest.mark.parametrize('name', ['=1+1', '+1', '-1+1', '@SUM(A1)', '=cmd|" /C calc"!A0'])
def test_a_name_that_looks_like_a_formula_reaches_no_table_of_statements(api, manager, name):
    manager.enrol(1)
    created(api)
    api.post('/v1/leases', {'name': name, 'duration': '1h', 'reservations': [
        {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}, version=V)
    manager.run_until(builders.at(2))
    cases.bill(manager)
    found = api.get('/v1/statements/2030-05?format=csv', version=V).text
    assert name not in found
    rows = list(csv.reader(io.StringIO(found)))
    assert len(rows) == 4
    assert not [cell for row in rows for cell in row if cell[:1] in tuple('=+@')]


def test_amounts_below_zero_stay_numbers_in_csv(api, manager):
    manager.enrol(1)
    created(api)
    lease = manager.book(end=builders.at(10))
    manager.run_until(builders.at(4))
    manager.change(lease, end_now=True)
    manager.run_until(builders.at(5))
    cases.bill(manager)
    found = api.get('/v1/statements/2030-05?format=csv', version=V).text
    amounts = [row['amount'] for row in csv.DictReader(io.StringIO(found))]
    assert amounts[-1].startswith('-'), amounts
    assert float(amounts[-1]) < 0


@pytest.mark.parametrize('path', [
    '/v1/statements/2030-13', '/v1/statements/may', '/v1/statements?month=2030-5',
    '/v1/statements?colour=red', '/v1/statements?format=xml', '/v1/statements?limit=-1',
    '/v1/statements?marker=x', '/v1/statements/2030-05?marker=a/b',
    '/v1/statements?month=2030-05&month=2030-06', '/v1/statements?month=1930-05',
    '/v1/statements?month=2030-05/2130-05', '/v1/statements?start=2030-05-01&end=2130-05-01',
    '/v1/statements?lease_id=%00', '/v1/statements?limit=0', '/v1/statements/2030-05?month=2030-06',
    '/v1/statements?lease_id=' + 'x' * 37, '/v1/statements?group_by=project'])
def test_a_bad_question_for_statements_is_refused(api, path):
    assert api.get(path, version=V).status_int == 400


def test_numbers_that_json_does_not_have_and_a_huge_body_are_refused(api):
    headers = {'token': builders.ADMIN, 'version': V}
    for number in ('NaN', 'Infinity', '-Infinity', '1e400', '-1e400'):
        raw = json.dumps(BOOK).replace('"2.00"', number).encode()
        answer = api.post('/v1/price-books', raw=raw, **headers)
        assert answer.status_int == 400
        assert number in answer.json['error_message']
    raw = json.dumps({**BOOK, 'description': 'x' * 2 ** 20}).encode()
    assert api.post('/v1/price-books', raw=raw, **headers).status_int == 413
