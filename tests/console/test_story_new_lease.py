# SPDX-License-Identifier: Apache-2.0
"""Stories of people who ask for a new lease: choices, errors at their fields, drags, repeats."""
import datetime
import json

import pytest

GPUS = {'compute-1': 'A100', 'compute-2': 'A100', 'compute-3': 'H100'}


@pytest.fixture
def gpus(page):
    """Two hosts have an A100, and one has an H100."""
    hosts = page.standalone.client.hosts
    for name, gpu in GPUS.items():
        hosts.update(hosts.find(name)['id'], {'gpu': gpu})
    yield
    page.standalone.end_all()
    for name in GPUS:
        hosts.update(hosts.find(name)['id'], unset=['gpu'])


def value(page, name):
    return page.one(f'[name={name}]').get_attribute('value')


def choice(page, words):
    """The label of a choice of criteria that begins with some words, when it is counted."""
    return page.until(lambda: next((each for each in page.all('.chip')
                                    if each.text.startswith(words + '\n')), None),
                      words)


def test_criteria_are_chosen_with_live_counts_and_a_refusal_keeps_the_button(page, gpus):
    page.go('/leases/new')
    assert choice(page, 'A100').text.split('\n') == ['A100', '2 of 2 free']
    choice(page, 'A100').click()
    page.reads('2 meet this', '#counts')
    # The counts of a property do not change by its own choices, but those of others do.
    page.until(lambda: '1 of 1 free' in choice(page, 'H100').text)
    page.until(lambda: 'none' in choice(page, '64').text)
    page.fill('[name=min]', '3')
    assert value(page, 'max') == '3'
    page.fill('[name=name]', 'too many')
    page.press('Check')
    page.reads('gpu has the values A100, H100.', '#problem')
    choice(page, 'H100').click()
    page.reads('3 meet this', '#counts')
    page.until(lambda: not page.all('#problem:not(:empty)'))
    page.picture('new-lease-choices')
    page.press('Check')
    page.reads('It fits', '#result')
    page.press('Create the lease')
    page.reads('too many', 'h1')
    (lease,) = page.standalone.client.leases.list()
    criteria = json.loads(lease['reservations'][0]['resource_properties'])
    assert criteria == ['in', '$gpu', ['A100', 'H100']]
    page.press('Repeat this lease')
    page.reads('New lease', 'h1')
    page.until(lambda: (value(page, 'name'), value(page, 'min')) == ('too many 2', '3'))
    assert value(page, 'duration') == '2h'
    assert page.until(lambda: [each.text.split('\n')[0] for each in page.all(
        '.chip:has(:checked)')]) == ['A100', 'H100']


def test_errors_stand_at_their_fields_even_while_the_name_is_empty(page):
    page.go('/leases/new')
    page.fill('[name=resource_properties]', 'vcpus')
    page.reads('"vcpus" is not a condition', 'label:has([name=resource_properties]) [role=alert]')
    page.fill('[name=resource_properties]', 'vcpus >= 64')
    page.reads('2 meet this', '#counts')
    assert not page.all('label [role=alert]')
    page.fill('[name=resource_properties]', 'gpuu = A100')
    page.reads('gpuu', 'label:has([name=resource_properties]) [role=alert]')
    page.fill('[name=resource_properties]', '')
    page.fill('[name=duration]', 'a while')
    page.reads('not a duration', '.field:has([name=duration]) .problem')
    page.picture('new-lease-problem')


def test_a_drag_takes_its_resources_pool_and_exact_duration(page):
    start = datetime.datetime.now(datetime.UTC).replace(microsecond=0) + datetime.timedelta(days=1)
    end = start + datetime.timedelta(days=1, hours=1, minutes=15)
    span = f'start={start:%Y-%m-%dT%H:%M:%SZ}&end={end:%Y-%m-%dT%H:%M:%SZ}'
    page.go(f'/leases/new?pool=host&{span}&count=2&resources=compute-2,compute-5')
    page.reads('2 meet this', '#counts')
    assert [value(page, name) for name in ('duration', 'min', 'max')] == ['1d1h15m', '2', '2']
    page.fill('[name=name]', 'dragged')
    page.press('Check')
    page.reads('It fits', '#result')
    page.press('Create the lease')
    page.reads('dragged', 'h1')
    client = page.standalone.client
    (lease,) = client.leases.list()
    names = {client.hosts.get(each)['hypervisor_hostname']
             for each in lease['reservations'][0]['resources']}
    assert names == {'compute-2', 'compute-5'}
    page.go(f'/leases/new?pool=host&{span}&count=2&resources=&criteria=["%3D%3D","$vcpus","32"]')
    page.reads('Climate chooses the resources')
    page.reads('3 meet this', '#counts')
    page.go(f'/leases/new?pool=segment&{span}')
    page.until(lambda: page.one('[aria-label="Resource type"]').get_attribute('value')
               == 'virtual:network')


def test_a_new_user_books_two_gpu_hosts_and_finds_an_alternative(page, gpus):
    """Tasks of a new user, without a wrong turn; each line is a step."""
    page.go('/leases')
    page.press('New lease')
    page.fill('[name=name]', 'training')
    page.fill('[name=start]', 'tomorrow 9:00')
    page.fill('[name=end]', '17:00')
    page.fill('[name=min]', '2')
    choice(page, 'A100').click()
    page.press('Check')
    page.press('Create the lease')
    page.reads('training', 'h1')
    (lease,) = page.standalone.client.leases.list()
    start, end = (datetime.datetime.fromisoformat(lease[name]) for name in ('start', 'end'))
    assert (end - start).total_seconds() == 8 * 3600
    # The same again does not fit, so an alternative is taken.
    page.press('Repeat this lease')
    page.fill('[name=start]', 'tomorrow 9:00')
    page.press('Check')
    page.reads('Only 0 of 2 hosts are free', '#problem')
    # A wait that ends before anything fits has a warning.
    page.one('[name=acquire]').send_keys('wait')
    page.until(lambda: page.one('[name=not_after]').is_displayed())
    page.fill('[name=not_after]', 'tomorrow 12:00')
    page.reads('can only succeed if other leases end earlier', '.field:has([name=not_after])')
    page.one('[name=acquire]').send_keys('at once')
    page.click('#offers button')
    page.press('Check')
    page.press('Create the lease')
    page.until(lambda: len([*page.standalone.client.leases.list()]) == 2)
