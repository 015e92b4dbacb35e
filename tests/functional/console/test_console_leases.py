# SPDX-License-Identifier: Apache-2.0
"""The pages of leases, read without scripts: past ones, all projects, offers, best effort."""
import console_world
import pytest
from support import builders
from support import thinning

NOON, hours = builders.NOON, builders.hours


@pytest.fixture
def admin(conf, url):
    """A Browser of an administrator of the project demo, logged in."""
    found = console_world.Browser(conf, console_world.an_identity(
        url, 'root', 'demo', roles=('admin', 'member', 'reader')))
    found.log_in()
    return found


@pytest.fixture
def leases(manager):
    """A lease of demo that is over, one that runs, and one of another project."""
    manager.enrol(3)
    manager.book(name='yesterday')
    manager.run_until(NOON + hours(2))
    for name, caller in (('today', None), ('theirs', builders.a_member('eve', 'elsewhere'))):
        manager.create(builders.a_lease(name=name, end=NOON + hours(9)), caller)
    manager.run()


@pytest.mark.parametrize(('query', 'names'), thinning.few([
    ('', {'today'}), ('?which=living', {'today'}), ('?which=past', {'yesterday'}),
    ('?which=<script>', {'today'}), ('?all_projects=1', {'today', 'theirs'}),
    ('?which=past&all_projects=1', {'yesterday'})], 3))
def test_leases_are_chosen_by_time_and_project(admin, leases, query, names):
    page = admin.client.get(f'/leases{query}').text
    assert {name for name in ('yesterday', 'today', 'theirs') if f'>{name}</a>' in page} == names


def test_a_member_has_no_link_to_all_projects_and_is_refused(browser, leases):
    browser.log_in()
    assert 'All projects' not in browser.client.get('/leases').text
    assert browser.client.get('/leases?all_projects=1').status_code == 403


def test_held_offers_are_listed_to_those_who_hold_them(browser, admin, manager, conf, url):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease(end=NOON + hours(1)))
    browser.log_in()
    page = browser.client.get('/leases').text
    assert f'data-offer="{offer.id}"' in page and 'Held until' in page
    assert 'data-offer' not in browser.client.get('/leases?which=past').text
    other = console_world.Browser(conf, console_world.an_identity(url, 'eve', 'elsewhere'))
    other.log_in()
    assert 'data-offer' not in other.client.get('/leases').text
    assert other.send('DELETE', f'/rest/v1/offers/{offer.id}').status_code == 404


@pytest.fixture
def clearing(conf, manager, admin):
    """The path of a best effort for which a host is being cleared."""
    conf.set_override('lent_aggregate', 'lent', group='acquire')
    nova = manager.cloud.as_service().nova
    nova.add_hosts(nova.ensure_aggregate('lent'), ['compute-1'])
    manager.cloud.boot('other', 'theirs', host='compute-1', flavor='2')
    answer = admin.send('POST', '/rest/v1/leases', {
        'name': 'x', 'duration': '1h', 'acquire': {'type': 'best-effort'}, 'reservations': [
            {'resource_type': 'physical:host', 'min': 1, 'max': 1}]})
    assert answer.status_code == 202, answer.text
    return f'/leases/{answer.json["lease"]["id"]}'


def test_a_best_effort_shows_its_progress_and_each_move(admin, manager, clearing):
    page = admin.client.get(clearing).text
    assert '0 of 1 servers have left' in page and 'id="moves"' in page
    assert '>compute-1<' in page and '>planned<' in page
    manager.run_until(NOON + builders.minutes(0.5))
    page = admin.client.get(clearing).text
    assert '1 of 1 servers have left' in page and '>moved<' in page


def test_a_member_sees_the_progress_and_no_names_of_hosts_or_servers(browser, clearing):
    browser.log_in()
    page = browser.client.get(clearing).text
    assert '0 of 1 servers have left' in page and 'host 1' in page
    assert 'id="moves"' not in page and 'compute-1' not in page
