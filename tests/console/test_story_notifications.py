# SPDX-License-Identifier: Apache-2.0
"""A user subscribes to notifications and to a calendar in the console."""
import requests


def test_a_calendar_is_made_with_one_click_and_has_the_leases(page):
    page.standalone.lease('in the calendar', 1, start='+2h', duration='1h')
    page.go('/notifications')
    page.reads('You have no subscription', '#subscriptions')
    page.press('Create the address')
    address = page.one('dialog input').get_attribute('value')
    page.press('Close')
    page.reads('calendar', '#subscriptions')
    answer = requests.get(address, timeout=10)
    assert 'SUMMARY:in the calendar' in answer.text
    page.press('New address')
    page.click('dialog button[value=yes]')
    page.until(lambda: page.one('dialog input').get_attribute('value') != address)
    page.press('Close')
    page.until(lambda: requests.get(address, timeout=10).status_code == 404)
    unsubscribe(page)


def test_a_webhook_is_tested_and_its_log_is_read(page):
    page.go('/notifications')
    page.fill('#subscribe [name=address]', 'no address')
    page.press('Subscribe')
    page.reads('sends no mail', '#subscribe [role=alert]')
    page.script('document.querySelector("#subscribe [name=transport]").value = "webhook"')
    page.fill('#subscribe [name=address]', 'https://hook.invalid/climate')
    # The answer with the secret is lost, so the same button finds the subscription and renews it.
    page.hold('/subscriptions$', 'POST')
    page.press('Subscribe')
    page.until_held()
    page.release(lost=True)
    page.reads('no second one is created', '#subscribe')
    page.press('Subscribe')
    page.reads('The secret of your webhook', 'dialog')
    assert len([*page.standalone.client.subscriptions.list()]) == 1
    page.press('Close')
    page.reads('hook.invalid', '#subscriptions')
    page.press('Send a test')
    page.reads('on its way', '#messages')
    page.picture('notifications')
    page.click('#subscriptions a')
    page.reads('test', '#log')
    # Another project does not have this subscription, so the way there leaves its log.
    assert page.one('.who a').get_attribute('href').endswith('?next=/')
    page.go('/notifications')
    page.press('Switch off')
    page.reads('off', '#subscriptions .state')
    page.press('Switch on')
    page.reads('on', '#subscriptions .state')
    unsubscribe(page)


def unsubscribe(page):
    page.press('Unsubscribe')
    page.reads('Its log is deleted', 'dialog')
    page.click('dialog button[value=yes]')
    page.reads('You have no subscription', '#subscriptions')
