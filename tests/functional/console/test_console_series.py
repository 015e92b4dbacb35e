# SPDX-License-Identifier: Apache-2.0
"""The series of leases in the console: the list of one series, and the links to it."""
import console_world
import pytest

HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
BODY = {'name': 'lab', 'start': '2030-05-02 09:00', 'duration': '2h', 'repeat': 'daily for 3 times',
        'time_zone': 'Europe/Berlin', 'reservations': [HOST]}


@pytest.fixture
def series(browser, manager):
    """A series of three dates on the only host, which another lease takes on the second date."""
    manager.enrol(1)
    browser.log_in()
    taken = browser.send('POST', '/rest/v1/leases', {
        'name': 'taken', 'start': '2030-05-03 07:00', 'duration': '1h', 'reservations': [HOST]})
    assert taken.status_code == 201, taken.text
    made = browser.send('POST', '/rest/v1/series', BODY)
    assert made.status_code == 201, made.text
    return made.json['series']


def _page(browser, path):
    answer = browser.client.get(path)
    assert answer.status_code == 200
    return answer.text


def test_a_list_of_one_series_has_its_leases_its_rule_and_the_dates_without_one(browser, series):
    page = _page(browser, f'/leases?series_id={series["id"]}')
    assert page.count('>lab</a>') == 2 and '>taken</a>' not in page
    assert 'Leases of the series “lab”' in page and 'Europe/Berlin' in page
    assert 'Dates without a lease' in page and 'datetime="2030-05-03T07:00:00Z"' in page
    everything = _page(browser, '/leases')
    assert everything.count(f'series_id={series["id"]}') == 2
    assert 'Dates without a lease' not in everything


def test_a_series_that_does_not_exist_is_an_empty_list(browser, series):
    page = _page(browser, '/leases?series_id=nowhere')
    assert 'No lease meets these filters.' in page and 'id="series"' not in page


@pytest.mark.parametrize(('roles', 'offered'), [(('member', 'reader'), True), (('reader',), False)])
def test_cancelling_the_following_is_offered_to_those_who_may_delete_the_lease(
        browser, conf, url, series, roles, offered):
    lease_id = series['occurrences'][2]['lease_id']
    user = console_world.Browser(conf, console_world.an_identity(url, roles=roles))
    user.log_in()
    page = _page(user, f'/leases/{lease_id}')
    assert 'All leases of the series “lab”' in page and '(number 3)' in page
    assert ('data-action="following"' in page) == offered


def test_the_link_of_an_administrator_lists_the_series_of_another_project(conf, url, series):
    admin = console_world.Browser(conf, console_world.an_identity(
        url, 'root', 'ops', roles=('admin', 'member', 'reader')))
    admin.log_in()
    page = _page(admin, f'/leases/{series["occurrences"][0]["lease_id"]}')
    address = f'/leases?series_id={series["id"]}&all_projects=1'
    assert address.replace('&', '&amp;') in page
    assert _page(admin, address).count('>lab</a>') == 2


def test_a_receiver_of_a_shared_lease_sees_no_series(browser, conf, url, series):
    lease_id = series['occurrences'][0]['lease_id']
    shared = browser.send('POST', f'/rest/v1/leases/{lease_id}/shares', {
        'project_id': 'guests', 'role': 'manager'})
    assert shared.status_code == 201, shared.text
    guest = console_world.Browser(conf, console_world.an_identity(url, 'gus', 'guests'))
    guest.log_in()
    for path in ('/leases', f'/leases/{lease_id}'):
        page = _page(guest, path)
        assert 'lab' in page and 'series_id=' not in page and 'data-action="following"' not in page
