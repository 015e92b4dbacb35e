# SPDX-License-Identifier: Apache-2.0
"""Stories of rules for leases, in a real browser: costs, steps, windows and held-back hosts."""
import pytest
import test_accessible

HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
PRICES = {'currency': 'EUR', 'rates': [{'rate': '1.00'}],
          'late_cancel': {'hours': '24', 'percent': '50'}}
WINDOW = {'limits': [], 'extensions': [{'name': 'last-hour', 'within': '1h', 'most': '7d'}]}


@pytest.fixture
def priced(page):
    """A price book by which a late cancellation costs half of the price."""
    page.standalone.client.price_books.create(PRICES)
    yield
    page.standalone.client.price_books.create({'currency': 'EUR', 'rates': [{'rate': '0'}]})


def test_the_dialog_of_a_late_deletion_says_what_it_costs(page, priced):
    client = page.standalone.client
    late = page.standalone.lease('late', 2, start='+5h', duration='3h')
    early = page.standalone.lease('early', 2, start='+3d', duration='3h')
    page.go(f'/leases/{early["id"]}')
    page.press('Delete it')
    page.reads('Delete “early”?', 'dialog')
    assert 'costs' not in page.text('dialog')
    page.go(f'/leases/{late["id"]}')
    page.press('Delete it')
    page.reads('This costs 3.00 EUR: 50 % of the price', 'dialog')
    assert test_accessible.faults(page, 'dialog-late-cancel') == {}
    page.press('Cancel')
    # To release a host costs, too, and Cancel changes nothing.
    page.press('Change the size…')
    for name in ('min', 'max'):
        page.fill(f'dialog [name={name}]', '1')
    page.click('dialog .main')
    page.reads('This costs 1.50 EUR', 'dialog:has(#question)')
    page.click('dialog:has(#question) button:not([value=yes])')
    page.press('Cancel')
    assert client.leases.get(late['id'])['reservations'][0]['max'] == 2
    page.press('Delete it')
    page.click('dialog button[value=yes]')
    page.reads('Leases', 'h1')
    assert [each['name'] for each in client.leases.list()] == ['early']


def test_a_lease_goes_on_in_steps_until_its_owner_ends_them(page):
    client = page.standalone.client
    page.go('/leases/new')
    page.fill('[name=name]', 'goes on 9')
    page.fill('[name=while_free]', '2 months')
    page.press('Check')
    page.reads('no fixed length', '#while_free-understood')
    page.fill('[name=while_free]', '1m')
    page.press('Check')
    page.reads('600 seconds', '.field:has([name=while_free]) [role=alert]')
    page.fill('[name=while_free]', '90m')
    page.reads('1h30m', '#while_free-understood')
    page.press('Check')
    page.press('Create the lease')
    page.reads('by 1h 30m at a time, while nobody else needs its resources', '#steps')
    (lease,) = client.leases.list()
    assert lease['while_free'] == 5400
    client.leases.wait(lease['id'])
    page.reads('active', 'h1')
    page.press('Extend in steps…')
    page.until(lambda: page.one('dialog [name=while_free]').get_attribute('value') == '1h30m')
    assert test_accessible.faults(page, 'dialog-steps') == {}
    page.fill('dialog [name=while_free]', '1m')
    page.press('Save')
    page.reads('600 seconds', 'dialog [role=alert]')
    page.fill('dialog [name=while_free]', '')
    page.press('Save')
    page.until(lambda: page.all('h1') and not page.all('#steps'))
    assert client.leases.get(lease['id'])['while_free'] is None
    page.press('Extend in steps…')
    page.fill('dialog [name=while_free]', '2h')
    page.press('Save')
    page.reads('by 2h at a time', '#steps')
    page.press('Repeat this lease')
    page.until(lambda: [page.one(f'[name={name}]').get_attribute('value')
                        for name in ('name', 'while_free')] == ['goes on 10', '2h'])


@pytest.fixture
def window(page):
    """A rule that allows extensions in the last hour of a lease."""
    page.standalone.client.limit_books.create(WINDOW)
    yield
    page.standalone.client.limit_books.create({'limits': []})


def test_pages_say_when_the_window_of_an_extension_opens(page, window):
    client = page.standalone.client
    page.go('/leases/new')
    page.fill('[name=name]', 'bounded')
    page.fill('[name=duration]', '3h')
    page.reads('Extensions: in the last 1h of a lease, by at most 7d', '#limits')
    page.press('Check')
    page.reads('you can extend it from', '#result')
    page.reads('(rule “last-hour”)', '#result')
    page.press('Create the lease')
    page.reads('bounded', 'h1')
    (lease,) = client.leases.list()
    client.leases.wait(lease['id'])
    page.reads('possible from', '#extension')
    page.reads('(rule “last-hour”)', '#extension')


def test_hosts_that_are_held_back_are_not_called_leased(page):
    client = page.standalone.client
    running = page.standalone.lease('running', 4, duration='9h')
    client.leases.wait(running['id'])
    client.leases.create('patient', reservations=[{**HOST, 'min': 8, 'max': 8}], duration='1h',
                         acquire={'type': 'wait', 'not_after': '+2d'})

    def states():
        page.go('/operator')
        return sorted(each.text for each in page.all('#resources tr[data-name] .state'))

    page.until(lambda: states() == ['free'] * 2 + ['held back'] * 2 + ['leased'] * 4)
    assert 'patient' in page.text('#resources tr:has(.held_back)')
