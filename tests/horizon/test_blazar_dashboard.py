# SPDX-License-Identifier: Apache-2.0
"""blazar-dashboard in a real Horizon, with Climate behind it, in a real Chromium.

Its two known faults have tests that pass while they are there: when a release of the plugin mends
one, its test fails, and the page doc/source/admin/horizon.rst is to be changed.
"""
import datetime

import horizon_nova
import keystone_process
import pytest
from support import loopback

from climate.client import errors

HOSTS = [f'compute-{number}' for number in range(1, 9)]
LATER = {'start_date': '2034-05-06 10:00', 'end_date': '2034-05-06 12:00'}
FROM, UNTIL = '2034-05-06 10:00 UTC', '2034-05-06 12:00 UTC'


@pytest.fixture
def member(page):
    """A page with the list of leases, for a member of project demo."""
    page.log_in('demo')
    return page


@pytest.fixture
def admin(page):
    """A page with the list of hosts, for an admin."""
    page.log_in('admin', '/admin/hosts/')
    return page


def host_lease(climate, name, hosts=1, **when):
    return climate.leases.create(name, reservations=[
        {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}], **when)


def test_a_wrong_password_is_refused(page):
    page.go('/auth/login/')
    page.fill('#id_username', 'demo')
    page.fill('#id_password', 'wrong')
    page.one('#loginBtn').click()
    page.reads('Invalid credentials', 'form')


def test_a_member_leases_hosts_from_now_on_reads_of_them_and_deletes_the_lease(member, demo):
    member.ask_for_lease('from now on', max_hosts='2',
                         hypervisor_properties='[">=", "$vcpus", "32"]')
    member.picture('new-lease-of-hosts')
    member.send_lease()
    row = member.row('leases', 'from now on')
    lease = demo.leases.wait(demo.leases.find('from now on')['id'])
    (reservation,) = lease['reservations']
    assert len(reservation['resources']) == 2
    start, end = (datetime.datetime.strptime(text, '%Y-%m-%d %H:%M %Z') for text in row[1:3])
    assert end - start == datetime.timedelta(days=1)
    member.go('/project/leases/')
    assert member.row('leases', 'from now on')[3:5] == ['ACTIVE', 'No']
    member.picture('leases')
    member.link('from now on').click()
    member.reads('Lease Detail', 'h1')
    shown = member.text('#content_body')
    for words in (lease['id'], reservation['id'], 'physical:host', '[">=", "$vcpus", "32"]',
                  'start_lease\nStatus: Done', 'end_lease\nStatus: Undone'):
        assert words in shown
    member.picture('lease')
    member.go('/project/leases/')
    member.delete_lease(lease['id'])
    member.until(lambda: not member.rows('leases') and not member.all('.modal-backdrop'))
    with pytest.raises(errors.NotFound):
        demo.leases.get(lease['id'])


@pytest.mark.parametrize('affinity, understood', [
    (None, None), ('Affinity', True), ('Anti-Affinity', False)])
def test_a_member_leases_room_for_instances(member, demo, affinity, understood):
    member.ask_for_lease('room', 'Virtual Instance', affinity, **LATER, amount='2', vcpus='3',
                         memory_mb='512', disk_gb='10')
    member.picture('new-lease-of-instances')
    member.send_lease()
    assert member.row('leases', 'room')[1:5] == [FROM, UNTIL, 'PENDING', 'No']
    lease = demo.leases.find('room')
    (reservation,) = lease['reservations']
    asked = {'resource_type': 'virtual:instance', 'amount': 2, 'vcpus': 3, 'memory_mb': 512,
             'disk_gb': 10, 'affinity': understood}
    assert {name: reservation[name] for name in asked} == asked
    member.link('room').click()
    member.reads('virtual:instance', '#content_body')
    member.picture('lease-of-instances')


def test_a_refusal_shows_the_reason(member, demo):
    member.ask_for_lease('too many', min_hosts='9', max_hosts='9')
    member.send_lease()
    member.reads('Only 8 of 9 hosts are free', '.alert-danger')
    assert not list(demo.leases.list())


def test_several_leases_are_deleted_at_once(member, demo):
    for name in ('one', 'two', 'three'):
        host_lease(demo, name, duration='1h')
    member.go('/project/leases/')
    for name in ('one', 'two'):
        lease_id = demo.leases.find(name)['id']
        member.one(f'tr[data-object-id="{lease_id}"] .themable-checkbox label').click()
    member.one('#leases__action_delete').click()
    member.say_yes()
    member.until(lambda: [row[0] for row in member.rows('leases')] == ['three'])
    assert [lease['name'] for lease in demo.leases.list()] == ['three']


def test_a_lease_of_another_project_is_not_shown(member, climate):
    lease = host_lease(climate, 'of the admin', duration='1h')
    member.go('/project/leases/')
    assert member.rows('leases') == []
    member.go(f'/project/leases/{lease["id"]}/')
    member.reads('Unable to retrieve', 'body')
    assert 'of the admin' not in member.text('body')


def test_the_page_of_changes_works_although_no_button_leads_to_it(member, demo, horizon_log):
    """The first fault: the button asks the module datetime for the time."""
    lease = demo.leases.wait(host_lease(demo, 'longer', end='2034-05-06 12:00')['id'])
    member.go('/project/leases/')
    assert member.row('leases', 'longer')[-1] == 'Delete Lease'
    assert "module 'datetime' has no attribute 'now'" in horizon_log.read_text()
    member.go(f'/project/leases/{lease["id"]}/update')
    member.fill('[name=lease_name]', 'longer now')
    member.fill('[name=end_time]', '+2h')
    member.one('form [value=Update]').click()
    member.row('leases', 'longer now')
    changed = demo.leases.get(lease['id'])
    assert (changed['name'], changed['end']) == ('longer now', '2034-05-06T14:00:00Z')


def test_an_admin_sees_the_hosts_and_one_of_them(admin):
    rows = admin.rows('hosts')
    assert [row[0] for row in rows] == HOSTS
    assert rows[1][:6] == ['compute-2', '32', '128GB', '1000GB', 'QEMU', 'Yes']
    admin.picture('hosts')
    admin.link('compute-2').click()
    admin.reads('Host Details', 'h1')
    admin.reads('Hypervisor type\nQEMU', '#content_body')
    assert 'Host name\ncompute-2' in admin.text('#content_body')
    admin.picture('host')


def test_an_admin_sees_in_the_calendar_which_hosts_are_taken(admin, climate):
    lease = climate.leases.wait(host_lease(climate, 'in the calendar', 3, duration='2d')['id'])
    admin.go('/project/leases/calendar/host/')
    admin.until(lambda: [each.text for each in admin.all('.apexcharts-yaxis-label tspan')] == HOSTS)
    # Those of no length are in the plugin's first series, which names all hosts.
    admin.until(lambda: admin.script("""
        return [...document.querySelectorAll('.apexcharts-rangebar-area')].filter(
          (bar) => bar.getBoundingClientRect().width > 50).length""") == 3)
    admin.picture('calendar')
    shown = admin.script("""return (await fetch('resources.json')).json()""")
    (reservation,) = lease['reservations']
    assert {(each['reservation_id'], each['hypervisor_hostname'])
            for each in shown['reservations']} == {
        (reservation['id'], climate.hosts.get(host)['hypervisor_hostname'])
        for host in reservation['resources']}


def test_a_member_may_not_read_the_calendar(member):
    """The calendar needs the hosts, which members may not see; the plugin answers 500."""
    member.go('/project/leases/calendar/host/')
    member.reads('Unable to load reservations', '#blazar-calendar-host')
    assert 'status of 500' in ' '.join(member.complaints())


def test_a_link_leads_to_the_console_where_one_logs_in(member, console):
    link = member.link('Climate Console')
    assert link.get_attribute('href') == console
    link.click()
    for name, text in (('username', 'demo'), ('password', keystone_process.PASSWORD),
                       ('project', 'demo')):
        member.fill(f'[name={name}]', text)
    member.press('Log in')
    member.reads('demo in demo', 'header')
    member.until(lambda: member.script('return window.climateTimeline?.view.rows.length') == 8)
    member.picture('console')
    assert member.driver.current_url.startswith(console)


def test_without_climate_in_the_catalog_there_is_no_link(page, keystone):
    with keystone.without('climate'):
        page.log_in('demo', '/project/api_access/')
        page.link('Leases')
        assert page.links('Climate Console') == []


def test_new_hosts_end_in_500_where_nova_has_hypervisors(admin, keystone, horizon_log):
    """The second fault: the plugin asks for a field that the objects of the SDK have not."""
    nova = horizon_nova.Nova()
    with loopback.serving(nova), keystone.naming('nova', 'compute', nova.url):
        admin.log_in('admin', '/admin/hosts/')
        admin.go('/admin/hosts/create/')
        assert 'status of 500' in ' '.join(admin.complaints())
    assert "object has no attribute 'hypervisor_hostname'" in horizon_log.read_text()
