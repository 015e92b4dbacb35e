# SPDX-License-Identifier: Apache-2.0
"""Before servers are lost, the console lists them by name and asks, in a real browser."""
import pytest


@pytest.fixture
def lease(page):
    """A running lease of three hosts with four servers."""
    found = page.standalone.lease('with servers', 3, duration='2h')
    found = page.standalone.client.leases.wait(found['id'])
    for number in range(4):
        page.standalone.boot(f'web-{number}', found)
    return found


def cancel(page):
    page.click('dialog:has(#question) button:not([value=yes])')
    page.until(lambda: not page.all('dialog:has(#question)'))


def test_servers_are_listed_before_a_lease_shrinks_ends_or_is_deleted(page, lease):
    client = page.standalone.client
    page.go(f'/leases/{lease["id"]}')
    page.press('Change the size…')
    for name in ('min', 'max'):
        page.fill(f'dialog [name={name}]', '1')
    page.click('dialog .main')
    page.reads('Objects that are lost', 'dialog')
    page.reads('Server web-', 'dialog li')
    page.picture('losses')
    cancel(page)
    assert client.leases.get(lease['id'])['reservations'][0]['max'] == 3
    page.press('Cancel')
    page.press('Swap')
    page.reads('Swap', 'dialog #question')
    cancel(page)
    for button in ('End it now', 'Delete it'):
        page.press(button)
        for number in range(4):
            page.reads(f'Server web-{number}', 'dialog')
        cancel(page)
    assert client.leases.get(lease['id'])['status'] == 'active'
    page.press('Delete it')
    page.reads('Objects that are lost (4)', 'dialog')
    page.click('dialog button[value=yes]')
    page.until(lambda: client.leases.get(lease['id'])['status'] in ('deleting', 'deleted'))
