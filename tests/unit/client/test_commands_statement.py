# SPDX-License-Identifier: Apache-2.0
"""The commands about statements."""
from unit.client import canned

URL = f'{canned.URL}/statements'
STATEMENT = {'project_id': 'demo', 'month': '2030-05', 'amount': '6.58', 'currency': 'EUR',
             'leases': 1, 'lines': 6, 'closed': False}
LINE = {'project_id': 'demo', 'month': '2030-05', 'lease_id': 'l1', 'number': 1,
        'for_month': '2030-05', 'correction': False, 'kind': 'lease_fee', 'amount': '2.00',
        'price_book': 1, 'currency': 'EUR', 'created_at': '2030-05-01T18:05:00Z'}


def test_statements_are_listed(run, requests_mock):
    requests_mock.get(URL, json={'statements': [STATEMENT]})
    assert run('statement', 'list', '-f', 'json').json == [STATEMENT]
    run('statement', 'list', '--month', '2030-05', '--all-projects', '--lease', 'l1')
    assert requests_mock.last_request.qs == {
        'month': ['2030-05'], 'all_projects': ['true'], 'lease_id': ['l1']}


def test_the_lines_of_a_month_are_shown(run, requests_mock):
    requests_mock.get(f'{URL}/2030-05', json={'lines': [LINE]})
    shown = run('statement', 'show', '2030-05').out
    assert '2.00' in shown and 'None' not in shown
    assert run('statement', 'show', '2030-05', '-f', 'csv').out.splitlines()[1].startswith(
        '"demo","2030-05","l1",1,"2030-05",False,"lease_fee",1')
