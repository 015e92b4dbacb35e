# SPDX-License-Identifier: Apache-2.0
"""The list of leases in the console: filters, order and pages, without scripts."""
import re

import console_world
import pytest
from support import builders
from support import thinning

from climate import context
from climate import errors
from climate.console import lease_list

NOON, hours = builders.NOON, builders.hours
_NAME = re.compile(r'href="/leases/[0-9a-f-]{36}">([^<]+)</a>')


@pytest.fixture
def leases(manager):
    """Twenty-four leases of demo, and one of another project; the newest has the number 24."""
    manager.enrol(2)
    for number in range(24):
        manager.create(builders.a_lease(name=f'lease {number + 1}', start=NOON + hours(number + 1),
                                        end=NOON + hours(number + 2)))
        manager.clock.advance(builders.seconds(1))
    eve = context.RequestContext(user_id='e', user_name='Eve', project_id='x', project_name='blue',
                                 roles=['member'], overwrite=False)
    manager.create(builders.a_lease(name='theirs', start=NOON + hours(1), end=NOON + hours(9)), eve)


@pytest.fixture
def admin(conf, url):
    """A Browser of an administrator of the project demo, logged in."""
    found = console_world.Browser(conf, console_world.an_identity(
        url, 'root', 'demo', roles=('admin', 'member', 'reader')))
    found.log_in()
    return found


@pytest.fixture
def member(browser):
    browser.log_in()
    return browser


def names(page):
    return _NAME.findall(page)


def link(page, rel):
    """The address of the next or the previous page, or None."""
    found = re.search(f'rel="{rel}" href="([^"]+)"', page)
    return found and found[1].replace('&amp;', '&')


def numbered(*numbers):
    return [f'lease {number}' for number in numbers]


@pytest.mark.proof
def test_pages_go_forth_and_back_and_keep_their_filters(member, leases):
    first = member.client.get('/leases?rows=10&search=lease').text
    assert names(first) == numbered(*range(24, 14, -1))
    assert link(first, 'prev') is None
    second = member.client.get(link(first, 'next')).text
    third = member.client.get(link(second, 'next')).text
    assert names(third) == numbered(4, 3, 2, 1)
    assert 'Page 3' in third and link(third, 'next') is None and 'value="lease"' in third
    again = member.client.get(link(third, 'prev')).text
    assert names(again) == names(second) == numbered(*range(14, 4, -1))
    assert names(member.client.get(link(again, 'prev')).text) == names(first)


def test_a_column_sorts_both_ways(member, leases):
    page = member.client.get('/leases?sort=start&rows=10').text
    assert names(page)[:2] == numbered(1, 2)
    assert 'aria-sort="ascending"' in page
    assert 'href="/leases?sort=start:desc&amp;rows=10"' in page
    page = member.client.get('/leases?rows=10&sort=start:desc').text
    assert names(page)[0] == 'lease 24' and 'aria-sort="descending"' in page


@pytest.mark.parametrize(('query', 'found'), thinning.few([
    ('search=LEASE+2', numbered(24, 23, 22, 21, 20, 2)),
    ('status=active', []),
    ('owner=demo&search=lease+11', numbered(11)),
    ('type=virtual:instance', []),
    ('from=2030-05-02T11:30:00Z', numbered(24, 23)),
    ('to=2030-05-01T14:30:00Z', numbered(2, 1)),
], 3))
def test_filters_are_those_of_the_service(member, leases, query, found):
    assert names(member.client.get(f'/leases?{query}').text) == found


def test_an_empty_search_says_so_and_offers_to_clear_it(member, leases, manager):
    page = member.client.get('/leases?search=nothing&rows=10').text
    assert 'No lease meets these filters.' in page
    assert 'href="/leases?rows=10"' in page
    assert 'There are no leases yet.' in member.client.get('/leases?which=past').text


def test_a_filter_that_the_service_refuses_is_explained_beside_the_form(admin, leases):
    answer = admin.client.get('/leases?resource=compute-99')
    assert answer.status_code == 200
    assert 'no resource is called &#34;compute-99&#34;' in answer.text
    assert 'value="compute-99"' in answer.text
    assert 'is not a time' in admin.client.get('/leases?from=whenever').text


def test_an_administrator_sees_projects_and_who_has_a_host(admin, leases):
    page = admin.client.get('/leases?all_projects=1&search=theirs').text
    assert '<td>blue</td>' in page and '<td>Eve</td>' in page
    assert names(admin.client.get('/leases?project=blue').text) == ['theirs']
    found = {name for host in ('compute-1', 'compute-2') for name in names(admin.client.get(
        f'/leases?all_projects=1&resource={host}&rows=100').text)}
    assert found == {'theirs', *numbered(*range(1, 25))}


def test_a_member_is_not_offered_the_fields_of_administrators(member, leases):
    page = member.client.get('/leases').text
    assert 'name="project"' not in page and 'name="resource"' not in page
    assert 'theirs' not in page


@pytest.mark.parametrize('query', thinning.few([
    'rows=7', 'rows=x', 'page=-1', 'sort=colour', 'sort=name:up', 'which=all', 'status=busy',
    'search=', 'search=' + 'x' * 300, 'unknown=1'], 4))
def test_an_address_with_values_that_do_not_exist_shows_the_list(member, leases, query):
    assert len(names(member.client.get(f'/leases?{query}').text)) == 24


def test_a_page_after_a_lease_that_was_purged_is_the_first_page(member, leases):
    page = member.client.get('/leases?rows=10&page=2&after=purged').text
    assert names(page)[0] == 'lease 24'


def test_a_failed_start_gives_its_reason_in_the_list(member, manager):
    manager.enrol(1)
    manager.book(name='fails')
    manager.cloud.fail('nova.add_host', 1, errors.CloudError(service='Nova', reason='no'))
    manager.run()
    page = member.client.get('/leases').text
    assert '>starting<' in page and 'The start failed and is tried again' in page


def test_the_address_leaves_out_what_is_usual():
    query = lease_list.ListQuery({'sort': 'created_at:desc', 'rows': '50', 'search': ' x ',
                                  'page': '3', 'after': 'id', 'which': 'living'})
    assert query.address() == {'search': 'x'}
    assert query.address(sort='name') == {'search': 'x', 'sort': 'name'}
    assert query.unfiltered() == {}
