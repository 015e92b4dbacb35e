# SPDX-License-Identifier: Apache-2.0
"""The page of a lease says what is wrong with it, and what to do."""
import json

import console_world
import pytest
from support import builders

from climate.console import lease_page
from climate.domain import maintenance_windows
from climate.domain import records
from climate.domain import shares

NOON, hours = builders.NOON, builders.hours
ADMIN = builders.an_admin()


def _page(browser, lease):
    browser.log_in()
    return browser.client.get(f'/leases/{lease.id}').text


def _break(manager):
    manager.client.update_resource(ADMIN, 'host', 1, {}, out_of_order='secret fan')


def test_a_member_reads_which_host_is_broken_without_its_name(browser, manager):
    manager.enrol(1)
    lease = manager.active()
    _break(manager)
    page = _page(browser, lease)
    assert 'host 1 is out of service since' in page
    assert 'Swap host 1' in page
    assert 'compute-1' not in page and 'secret fan' not in page


def test_an_operator_reads_the_name_and_the_reason(conf, url, manager):
    manager.enrol(1)
    lease = manager.active()
    _break(manager)
    page = _page(console_world.Browser(
        conf, console_world.an_identity(url, roles=('admin',))), lease)
    assert 'compute-1 is out of service since' in page
    assert 'secret fan' in page


def test_a_future_lease_needs_no_swap(browser, manager):
    manager.enrol(1)
    lease = manager.book(start=NOON + hours(2), end=NOON + hours(3))
    _break(manager)
    page = _page(browser, lease)
    assert 'Climate replaces it automatically before the start' in page
    assert 'Swap host 1' not in page
    assert 'data-action="end"' not in page


def test_a_maintenance_of_a_host_is_announced(browser, manager):
    [host] = manager.enrol(1)
    lease = manager.active(end=NOON + hours(9))
    manager.client.create_maintenance(ADMIN, maintenance_windows.MaintenanceRequest(
        'host', NOON + hours(3), NOON + hours(4), 'new firmware', resources=(host.name,)))
    page = _page(browser, lease)
    assert 'host 1 has maintenance from' in page


def test_a_lease_that_waits_offers_only_what_is_possible(browser, manager):
    manager.enrol(1)
    manager.active(end=NOON + hours(4))
    lease = manager.book(acquire=records.AcquireRequest('wait', not_after=NOON + hours(9)))
    page = _page(browser, lease)
    assert 'It waits for its resources' in page
    assert 'data-action="extend"' not in page and 'data-action="resize"' not in page
    assert 'data-action="rename"' in page and 'data-action="remove"' in page


@pytest.mark.parametrize(('criteria', 'words'), [
    (['>=', '$vcpus', '16'], 'vcpus >= 16'),
    (['and', ['>=', '$vcpus', '16'], ['=', '$gpu', 'A100']], 'vcpus >= 16 and gpu = A100'),
    (['and', ['or', ['=', '$a', '1'], ['=', '$b', '2']], ['=', '$c', '3']],
     '(a = 1 or b = 2) and c = 3'),
    (['not', ['=', '$rack', 'r1']], 'not (rack = r1)'),
    (['in', '$rack', 'r1', 'r2'], 'rack in r1, r2')])
def test_criteria_are_shown_as_people_write_them(criteria, words):
    reservation = {'resource_properties': json.dumps(criteria)}
    assert lease_page.criteria_words(reservation) == words


@pytest.mark.parametrize('text', ['', None, 'not JSON', '[]', '{"a": 1}'])
def test_unusual_criteria_are_shown_as_they_are(text):
    assert lease_page.criteria_words({'resource_properties': text}) == (
        '' if text in ('', None) else text)


@pytest.mark.parametrize(('rule', 'words'), [
    ({'within': '1h'}, 'possible from <time datetime="2030-05-01T20:00:00Z"'),
    ({'most': '2h'}, 'possible until <time datetime="2030-05-01T23:00:00Z"'),
    ({'times': 0}, 'not possible any more (rule “last”)')])
def test_a_running_lease_says_what_its_rule_of_extensions_allows(browser, manager, rule, words):
    manager.client.create_limit_book(ADMIN, None, {'extensions': [{'name': 'last', **rule}]})
    manager.enrol(1)
    assert words in _page(browser, manager.active(end=NOON + hours(9)))


def test_a_lease_without_a_rule_or_before_its_start_says_nothing_about_extensions(
        browser, manager):
    manager.enrol(2)
    running = manager.active(end=NOON + hours(9))
    assert 'id="extension"' not in _page(browser, running)
    manager.client.create_limit_book(ADMIN, None, {'extensions': [
        {'name': 'last', 'within': '1h'}]})
    future = manager.book(start=NOON + hours(2), end=NOON + hours(3))
    assert 'id="extension"' not in _page(browser, future)


def test_the_steps_of_a_lease_are_in_words(browser, manager):
    manager.enrol(1)
    lease = manager.active(end=NOON + hours(9))
    assert 'id="steps"' not in _page(browser, lease)
    manager.change(lease, while_free_seconds=5400)
    assert 'by 1h 30m at a time' in _page(browser, lease)


def test_a_reader_sees_the_shares_of_a_lease_and_no_buttons_for_them(conf, url, browser, manager):
    manager.enrol(1)
    lease = manager.active()
    manager.client.share_lease(builders.a_member(), lease.id, shares.ShareRequest(
        shares.PROJECT_ID, 'physics', shares.USER))
    page = _page(browser, lease)
    assert 'project physics' in page
    assert 'data-action="share"' in page and 'data-action="unshare"' in page
    page = _page(console_world.Browser(
        conf, console_world.an_identity(url, roles=('reader',))), lease)
    assert 'project physics' in page
    assert 'data-action="share"' not in page and 'data-action="unshare"' not in page
    assert 'data-action="leave"' not in page
