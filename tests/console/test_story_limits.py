# SPDX-License-Identifier: Apache-2.0
"""Stories of a member whose project has limits: the form, the refusals, the page of capacity."""
import pytest
from support import browser
import test_accessible

EVIL = '<img src=x onerror=document.title="x">'
HOST = {'resource_type': 'physical:host'}
BOOK = {'limits': [
    {'name': 'open', 'measure': 'open_leases', 'most': 2},
    {'name': 'week', 'measure': 'lease_length', 'most': '7d'},
    {'name': 'ahead', 'measure': 'ahead', 'most': '30d'},
    {'name': 'hosts', 'measure': 'resources', 'most': 3, **HOST},
    {'name': EVIL, 'measure': 'resource_hours', 'most': 100, 'period': 'year', **HOST},
    {'name': 'addresses', 'measure': 'resources', 'most': 0, 'pool': 'address'}],
    'extensions': [{'name': 'last-days', 'within': '2d', 'most': '7d'}]}


@pytest.fixture(scope='module')
def console(standalone):
    """The console of eve, a member of the project physics."""
    with browser.console_of(standalone, 'eve', 'physics', 'member', 'reader') as found:
        yield found


@pytest.fixture
def page(page, chromium, console):
    """A Page of a member whose project has the limits of BOOK and two hosts for an hour."""
    admin = page.standalone
    admin.client.limit_books.create(BOOK)
    console.lease('first', 2, duration='1h')
    found = browser.Page(chromium, console)
    found.log_in()
    yield found
    complaints = found.leave()
    admin.client.limit_books.create({'limits': []})
    admin.end_all()
    assert complaints == []


def test_the_form_has_the_limits_that_apply_to_what_is_chosen(page):
    page.go('/leases/new')
    page.reads('at most 2 open leases', '#limits')
    page.reads('1 of 2 used', '#limits')
    page.reads('leases of at most 7d', '#limits')
    page.reads('of 100 used', '#limits')
    assert 'address' not in page.text('#limits')
    page.one('[aria-label="Resource type"]').send_keys('addresses')
    page.until(lambda: 'address' in page.text('#limits'))
    assert any('full' in each.get_attribute('class') for each in page.all('#limits li'))
    page.until(lambda: 'physical:host' not in page.text('#limits'))


@pytest.mark.parametrize('fields, at, words', [
    ({'duration': '9d'}, '.field:has([name=duration])', 'leases of at most 7d'),
    ({'end': '+9d'}, '.field:has([name=end])', 'leases of at most 7d'),
    ({'start': 'in 40d'}, '.field:has([name=start])', 'at most 30d ahead'),
    ({'min': '4'}, 'label:has([name=min])', 'at most 3 resources at one moment')])
def test_a_refusal_stands_at_the_field_that_it_is_about(page, fields, at, words):
    page.go('/leases/new')
    page.fill('[name=name]', 'refused')
    for name, text in fields.items():
        page.fill(f'[name={name}]', text)
    page.press('Check')
    page.reads(words, f'{at} [role=alert]')
    assert not page.all('#create')


def test_a_lease_within_the_limits_is_created_and_the_next_one_is_refused_at_the_button(page):
    page.go('/leases/new')
    page.fill('[name=name]', 'second')
    page.press('Check')
    page.press('Create the lease')
    page.reads('second', 'h1')
    page.go('/leases/new')
    page.reads('2 of 2 used', '#limits')
    page.fill('[name=name]', 'third')
    page.press('Check')
    page.reads('Limit "open" (at most 2 open leases)', '#problem')
    page.picture('new-lease-limits')


def test_a_member_reads_the_own_limits_on_the_page_of_capacity(page):
    page.go('/capacity')
    page.reads('1 of 2', '#limits')
    row, *_others = [each.text for each in page.all('#limits tbody tr')]
    assert row.startswith('open at most 2 open leases') and '1 of 2 1' in row
    assert page.one('#limits meter[aria-label=open]').get_attribute('value') == '1'
    page.reads('in the last 2d of a lease', '#limits')
    page.script('document.querySelector("#limits").scrollIntoView()')
    page.picture('limits')


def test_the_name_of_a_limit_is_never_read_as_html(page):
    for path in ('/capacity', '/leases/new'):
        page.go(path)
        page.reads('of 100', '#limits')
        assert not page.all('#limits img')
        assert page.script('return document.title') != 'x'
    page.fill('[name=name]', 'refused')
    page.fill('[name=duration]', '6d')
    page.press('Check')
    page.reads(EVIL, '#problem')
    assert not page.all('#problem img')


def test_limits_are_accessible_on_a_phone_and_on_a_laptop(page):
    found = {}
    for name, path, there in (('capacity-limits', '/capacity', '#limits meter'),
                              ('new-limits', '/leases/new', '#limits li')):
        page.go(path)
        page.one(there)
        found[path] = test_accessible.faults(page, name, ((390, 844), (1400, 900)))
    assert not any(found.values()), found
