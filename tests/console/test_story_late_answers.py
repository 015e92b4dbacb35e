# SPDX-License-Identifier: Apache-2.0
"""Stories of answers that come late, or never: they do not replace what is newer on the page."""


def choose(page, selector, value):
    page.script("""const select = document.querySelector(arguments[0]);
        select.value = arguments[1];
        select.dispatchEvent(new Event('change', {bubbles: true}))""", selector, value)


def test_a_late_preview_of_a_maintenance_cannot_be_planned(page):
    page.go('/operator')
    for name, text in (('resources', 'compute-1'), ('reason', 'new firmware'), ('start', '+3h'),
                       ('end', '+5h')):
        page.fill(f'#maintenance [name={name}]', text)
    page.hold('dry_run=true')
    page.press('Preview')
    page.until_held()
    page.fill('#maintenance [name=resources]', 'compute-2')
    page.release()
    assert page.text('#preview') == ''
    assert page.text('#preview-button') == 'Preview'
    page.press('Preview')
    page.reads('Resources in maintenance: 1', '#preview')


def test_a_maintenance_whose_answer_was_lost_is_not_planned_twice(page):
    page.go('/operator')
    for name, text in (('resources', 'compute-1'), ('reason', 'lost'), ('start', '+30h'),
                       ('end', '+31h')):
        page.fill(f'#maintenance [name={name}]', text)
    page.press('Preview')
    page.hold('/maintenances$', 'POST')
    page.press('Plan this maintenance')
    page.until_held()
    page.release(lost=True)
    page.reads('may be planned already', '#maintenance .refusal')
    assert page.text('#preview-button') == 'Preview'
    page.go('/operator')
    page.reads('lost', '#maintenances')
    page.click('#maintenances button')
    page.click('dialog button[value=yes]')
    page.reads('No maintenance is planned', '#maintenances')


def test_an_offer_whose_answer_was_lost_is_held_once(page):
    page.go('/leases/new')
    page.reads('8 are free then', '#counts')
    page.hold('/availability$', 'POST')
    page.press('Hold for me')
    page.until_held()
    page.release(lost=True)
    page.reads('no second one is held', '#problem')
    page.press('Hold for me')
    page.reads('is held for your project', '#messages')
    (offer,) = page.standalone.client.offers.list()
    # Without a lost answer, each click holds another one.
    page.press('Hold for me')
    page.until(lambda: len(page.standalone.client.offers.list()) == 2)
    for each in page.standalone.client.offers.list():
        page.standalone.client.offers.delete(each['id'])
    assert offer['held_until']


def test_a_late_check_of_a_changed_form_creates_nothing(page):
    page.go('/leases/new')
    page.fill('[name=name]', 'changed')
    page.hold('dry_run=true')
    page.press('Check')
    page.until_held()
    page.fill('[name=min]', '2')
    page.release()
    assert page.text('#result') == ''
    page.press('Check')
    page.reads('It fits', '#result')
    page.press('Create the lease')
    page.reads('changed', 'h1')
    (lease,) = page.standalone.client.leases.list()
    assert lease['reservations'][0]['min'] == 2


def test_a_late_answer_about_a_time_never_replaces_that_about_the_present_text(page):
    page.go('/leases/new')
    page.hold('moments')
    page.fill('[name=start]', '2031-01-15 9:00')
    page.until_held()
    page.fill('[name=start]', '2032-02-16 9:00')
    page.reads('Mon 2032-02-16 09:00', '#start-understood')
    page.release()
    assert 'Mon 2032-02-16 09:00' in page.text('#start-understood')


def test_a_time_is_asked_for_again_after_its_answer_was_lost(page):
    page.go('/leases/new')
    page.fill('[name=name]', 'asked again')
    page.hold('moments')
    page.fill('[name=start]', '2031-01-15 9:00')
    page.until_held()
    page.release(lost=True)
    page.reads('The console does not answer', '#start-understood')
    page.press('Check')
    page.reads('It fits, from 2031-01-15 09:00', '#result')
    page.reads('Wed 2031-01-15 09:00', '#start-understood')


def test_a_refusal_of_criteria_stays_above_the_timeline_until_they_are_right(page):
    page.go('/')
    page.until(lambda: page.all('#timeline[data-bars]'))
    page.fill('#criteria', 'vcpus>=\n')
    page.reads('vcpus', '#problem')
    refusal = page.text('#problem')
    # A poll without an error leaves it there.
    page.hold('/timeline')
    page.script('window.climateTimeline.source.refresh()')
    page.until_held()
    page.release()
    assert page.text('#problem') == refusal
    page.fill('#criteria', 'vcpus>=16\n')
    page.until(lambda: page.text('#problem') == '')


def test_late_numbers_of_another_span_never_replace_those_of_the_chosen_one(page):
    page.go('/capacity')
    page.click('#utilisation summary')
    page.reads('20', '#utilisation tbody')
    page.hold('/utilisation')
    choose(page, '#span', 'year')
    page.until_held()
    choose(page, '#span', 'day')
    page.until(lambda: len(page.all('#utilisation tbody tr')) == 24)
    page.release()
    assert len(page.all('#utilisation tbody tr')) == 24
