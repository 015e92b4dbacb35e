# SPDX-License-Identifier: Apache-2.0
"""The console beside a real Keystone and Nova, in a real Chromium."""
import contextlib
import types

import pytest
from support import browser
from support import builders
from support import programs

from tools.cloud import settings

DOMAIN = 'Default'


@pytest.fixture
def console(cloud, tmp_path):
    """The address of a climate-console that logs in at the cloud's Keystone."""
    port = builders.a_free_port()
    config = tmp_path / 'console.conf'
    config.write_text(f'[console]\nport = {port}\nauth_url = {settings.url("keystone", "/v3")}\n')
    with programs.listening(cloud.climate_venv / 'bin' / 'climate-console', '--config-file', config,
                            port=port):
        yield f'http://127.0.0.1:{port}'


@pytest.fixture
def page(console):
    with contextlib.ExitStack() as stack:
        driver = stack.enter_context(browser.chromium('--window-size=1280,800'))
        yield browser.Page(driver, types.SimpleNamespace(root=console))


def log_in(page, cloud, user, project, password=None):
    page.go('/login?next=/leases')
    for name, text in (('username', user), ('password', password or settings.PASSWORD),
                       ('user_domain', DOMAIN), ('project', project), ('project_domain', DOMAIN)):
        page.fill(f'[name={name}]', text)
    page.press('Log in')


def test_a_member_logs_in_leases_a_host_and_ends_the_lease(page, cloud, scene):
    log_in(page, cloud, 'demo', 'demo', 'wrong')
    page.reads('project is wrong')
    log_in(page, cloud, 'demo', 'demo')
    page.reads('demo in demo', 'header')
    name = scene.name()
    page.press('New lease')
    page.fill('[name=name]', name)
    page.fill('[name=duration]', '10m')
    page.reads('are free then', '#counts')
    page.press('Check')
    page.press('Create the lease')
    page.reads(name, 'h1')
    lease = scene.climate().leases.find(name)
    scene.remember(lease['id'])
    page.reads('active', '.state')
    reservation = lease['reservations'][0]['id']
    assert len(scene.hosts_in(reservation)) == 1
    page.reads(f'--hint reservation={reservation}', 'code')
    page.press('End it now')
    page.one('dialog button[value=yes]').click()
    scene.wait(lease['id'], 'terminated')
    assert scene.aggregate(reservation) is None


def test_an_application_credential_sees_its_project_and_logout_revokes_its_token(
        page, cloud, scene, demo):
    credential = demo.identity.create_application_credential(
        demo.current_user_id, scene.name(), roles=[{'name': 'member'}])
    scene.afterwards(lambda: demo.identity.delete_application_credential(
        demo.current_user_id, credential))
    lease = scene.lease()
    page.go('/login?next=/')
    page.one('summary').click()
    page.fill('[name=credential_id]', credential.id)
    page.fill('[name=credential_secret]', credential.secret)
    page.all('form button.main')[1].click()
    page.until(lambda: page.script('return window.climateTimeline?.view.rows.length'))
    names = page.until(lambda: page.script(
        'return window.climateTimeline.view.rows.flatMap(({lane}) => lane.leases'
        '.filter(Boolean).map((each) => each.name))'))
    assert lease['name'] in names
    # A member sees no names of hosts.
    assert page.script('return window.climateTimeline.view.rows[0].lane.resource.name') is None
    page.press('Log out')
    page.go('/leases')
    assert '/login' in page.driver.current_url


def test_another_project_sees_that_it_is_taken_and_no_name(page, cloud, scene):
    lease = scene.lease()
    log_in(page, cloud, 'alt', 'alt')
    page.reads('alt in alt', 'header')
    page.go(f'/leases/{lease["id"]}')
    page.reads('404')
    page.go('/')
    kinds = page.until(lambda: page.script(
        'return window.climateTimeline?.view.rows.flatMap(({lane}) => lane.kinds)'))
    assert 'others' in kinds and 'own' not in kinds
