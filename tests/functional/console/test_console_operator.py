# SPDX-License-Identifier: Apache-2.0
"""The page of operators and the page of capacity, read without scripts, and their CSV."""
import csv
import io
import re

import console_world
import pytest
from support import api_server
from support import builders

from climate import power as power_drivers
from climate.console.pages import operator
from climate.db import managers
from climate.domain import acquire
from climate.domain import audit
from climate.domain import maintenance_windows
from climate.domain import records
from climate.manager.energy import power_saving
from climate.manager.idle import detection
from climate.plugins import registry

NOON, hours = builders.NOON, builders.hours
SCRIPT = '<script>alert(1)</script>'


@pytest.fixture
def admin(conf, url):
    """A Browser of an administrator, logged in."""
    found = console_world.Browser(conf, console_world.an_identity(url, roles=('admin', 'reader')))
    found.log_in()
    return found


def page(browser, path):
    answer = browser.client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def rows(browser, path):
    """The rows of a CSV, as dicts."""
    answer = browser.client.get(path)
    assert (answer.status_code, answer.mimetype) == (200, 'text/csv'), answer.text
    return [*csv.DictReader(io.StringIO(answer.text))]


def test_managers_are_shown_with_when_they_were_seen(admin, manager):
    with manager.database.writer() as connection:
        managers.seen(connection, 'one:8', 'one', NOON - hours(2), NOON, 3)
        managers.seen(connection, 'two:7', 'two', NOON - hours(2), NOON - hours(1), 0)
    found = page(admin, '/operator')
    assert '>up<' in found and '>down<' in found
    assert '<time datetime="2030-05-01T12:00:00Z">2030-05-01 12:00 UTC</time>' in found
    assert '<time datetime="2030-05-01T11:00:00Z">' in found


def test_before_the_first_audit_the_page_says_how_to_make_one(admin):
    assert 'No manager has made an audit yet' in page(admin, '/operator')


def test_findings_of_the_newest_audit_are_shown_as_text(admin, manager):
    with manager.database.writer() as connection:
        managers.write_audit(connection, audit.Result(NOON, 'one:8', 1, (audit.AuditFinding(
            'held', f'host {SCRIPT}', 'its reservation is over', 'releases it'),)))
    found = page(admin, '/operator')
    assert 'its reservation is over' in found and 'releases it' in found
    assert '1 found at <time datetime="2030-05-01T12:00:00Z">' in found
    assert SCRIPT not in found and '&lt;script&gt;' in found


def test_an_idle_lease_is_shown_with_when_it_is_taken_back(admin, conf, manager):
    for name, value in {'sample_minutes': 60, 'idle_hours': 2, 'action': 'end'}.items():
        conf.set_override(name, value, group='idle')
    manager.enrol(1)
    lease = manager.book(end=NOON + hours(99), name='sleepy')
    for hour in range(4):
        manager.run_until(NOON + hours(hour))
        detection.IdleDetection(manager.core, 'this manager').step(manager.clock())
    found = page(admin, '/operator')
    assert f'/leases/{lease.id}' in found and 'sleepy' in found
    assert '<time datetime="2030-05-04T14:00:00Z">' in found


def test_a_sick_host_says_why(admin, manager):
    manager.enrol(2)
    manager.client.update_resource(builders.an_admin(), 'host', 1, {}, False)
    assert 'out of use' in page(admin, '/operator')


def test_each_host_says_whether_it_is_free_leased_in_maintenance_or_out_of_service(
        admin, manager):
    manager.enrol(4)
    lease = manager.active(name='mine')
    [taken] = lease.reservations[0].resource_ids
    sick, maintained, _ = [key for key in range(1, 5) if key != taken]
    manager.client.update_resource(builders.an_admin(), 'host', sick, {}, None, 'a fan is broken')
    manager.client.create_maintenance(
        builders.an_admin(), maintenance_windows.MaintenanceRequest(
            'host', NOON, NOON + hours(1), 'firmware', resources=(str(maintained),)))
    found = page(admin, '/operator')
    states = re.findall('data-resource="([0-9]+)".*?class="state ([a-z]+)">([a-z ]+)<', found,
                        re.DOTALL)
    assert {int(key): words for key, _, words in states} == {
        taken: 'leased', sick: 'out of service', maintained: 'in maintenance',
        10 - taken - sick - maintained: 'free'}
    assert f'/leases/{lease.id}">mine</a> of demo in project demo until' in found
    assert 'a fan is broken' in found and 'firmware' in found


@pytest.mark.proof
def test_a_filter_selects_by_name_or_criteria_and_stays_on_the_next_page(
        admin, manager, monkeypatch):
    for number, host in enumerate(manager.enrol(8)):
        manager.client.update_resource(builders.an_admin(), 'host', host.id, {
            'rack': f'r{number % 2}'})
    monkeypatch.setattr(operator, 'ROWS', 3)
    first = page(admin, '/operator?filter=rack%3Dr0')
    assert re.findall('data-name="([^"]+)"', first) == ['compute-1', 'compute-3', 'compute-5']
    [following] = re.findall('rel="next" href="([^"]+)"', first)
    second = page(admin, following.replace('&amp;', '&'))
    assert re.findall('data-name="([^"]+)"', second) == ['compute-7']
    assert 'rel="next"' not in second
    assert re.findall('data-name="([^"]+)"', page(admin, '/operator?filter=UTE-8')) == ['compute-8']
    assert 'No resource matches the filter' in page(admin, '/operator?filter=100%25')


@pytest.mark.parametrize('text', ['colour%3Dred', 'rack%3D', '%3E%3E'])
def test_a_filter_that_cannot_be_used_says_why_at_its_field(admin, manager, text):
    manager.enrol(1, rack='r1')
    found = page(admin, f'/operator?filter={text}')
    assert 'aria-invalid="true"' in found and 'id="filter-problem"' in found


def test_the_form_that_enrols_has_the_fields_of_its_pool(admin):
    found = page(admin, '/operator?pool=address')
    assert 'name="network_id"' in found and 'data-pool="address"' in found
    assert admin.client.get('/operator?pool=moon').status_code == 404


@pytest.mark.parametrize(('types', 'words'), [
    (['virtual:network'], 'data-pool="segment"'), (['virtual:dummy'], 'uses a pool')])
def test_a_cloud_without_hosts_has_the_page_too(conf, database, clock, types, words):
    conf.set_override('plugins', types)
    manager = builders.Manager(conf, database, clock, classes=registry.load(types))
    with api_server.climate_api(conf, manager) as port:
        browser = console_world.Browser(conf, console_world.an_identity(
            f'http://127.0.0.1:{port}/v1', roles=('admin', 'reader')))
        browser.log_in()
        assert words in page(browser, '/operator')


def test_energy_has_its_numbers_as_table_and_csv(admin, conf, manager):
    conf.set_override('driver', 'simulated', group='energy')
    conf.set_override('spare', 0, group='energy')
    conf.set_override('watts', 200.0, group='energy')
    manager.enrol(1)
    sleeper = power_saving.PowerSaving(manager.core, 'this manager',
                                       power_drivers.load(conf, manager.cloud))
    manager.clock.advance(hours(1))
    sleeper.step(manager.clock())
    manager.clock.advance(hours(4))
    sleeper.step(manager.clock())
    assert 'data-name="compute-1"' in page(admin, '/capacity')
    (row,) = rows(admin, '/capacity/energy.csv')
    assert (row['name'], row['watts']) == ('compute-1', '200.0')


@pytest.fixture
def queue(manager):
    """A lease that waits, with a name that a spreadsheet would run."""
    manager.enrol(1)
    manager.book(end=NOON + hours(5))
    return manager.book(
        name='=HYPERLINK("http://evil")', end=NOON + hours(2),
        acquire=records.AcquireRequest(acquire.WAIT, not_after=NOON + hours(9)))


def test_the_wait_queue_has_its_numbers_as_table_and_csv(admin, queue):
    assert f'/leases/{queue.id}' in page(admin, '/capacity')
    (row,) = rows(admin, '/capacity/queue.csv')
    assert row['name'] == '\'=HYPERLINK("http://evil")'
    assert (row['acquire_type'], row['project_id']) == ('wait', 'demo')
    assert 'Only 0 of 1 hosts are free' in row['status_reason']


def test_a_member_reads_the_own_waiting_leases_only_and_no_energy(browser, queue, conf, url):
    browser.log_in()
    assert [row['id'] for row in rows(browser, '/capacity/queue.csv')] == [queue.id]
    assert 'id="energy"' not in page(browser, '/capacity')
    other = console_world.Browser(conf, console_world.an_identity(url, 'eve', 'elsewhere'))
    other.log_in()
    assert rows(other, '/capacity/queue.csv') == []
    for path in ('/capacity/energy.csv', '/capacity/forecast.csv'):
        assert browser.client.get(path).status_code == 403


@pytest.mark.proof
def test_the_forecast_has_its_numbers_as_csv(admin, manager):
    manager.enrol(1)
    found = rows(admin, '/capacity/forecast.csv?pool=host')
    assert len(found) == 7 * 24 and found[0]['start'] == '2030-05-01T12:00:00Z'
    assert admin.client.get('/capacity/forecast.csv?pool=moon').status_code == 404
