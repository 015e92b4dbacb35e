# SPDX-License-Identifier: Apache-2.0
"""Keystone, Climate, its console and Horizon as processes, and a Chromium that shows Horizon."""
import os
import pathlib

import horizon_page
import horizon_process
import keystone_process
import pytest
from support import browser
from support import builders
from support import programs

from climate.client import service


@pytest.fixture(scope='session')
def horizon_bin():
    """The folder of the programs of a virtualenv with Horizon and Keystone."""
    try:
        return pathlib.Path(os.environ['HORIZON_BIN'])
    except KeyError as error:
        pytest.skip(f'{error} is not set; "make horizon-test" sets it.')


@pytest.fixture(scope='session')
def keystone(horizon_bin, tmp_path_factory):
    """A Keystone without anything in its catalog but itself."""
    with keystone_process.running(horizon_bin, tmp_path_factory.mktemp('keystone')) as found:
        yield found


@pytest.fixture(scope='session')
def climate(keystone, tmp_path_factory):
    """The client library of an admin, for a Climate on a simulated cloud of eight hosts."""
    login = {'auth_type': 'password', 'auth_url': keystone.url, 'username': 'climate',
             'password': keystone_process.PASSWORD, 'project_name': 'service',
             'user_domain_name': 'Default', 'project_domain_name': 'Default',
             'www_authenticate_uri': keystone.url}
    with browser.running(
            tmp_path_factory.mktemp('climate'), API__AUTH_STRATEGY='keystone',
            **{f'KEYSTONE_AUTHTOKEN__{name.upper()}': text for name, text in login.items()},
    ) as found:
        keystone.fill(climate=('reservation', found.url))
        yield service.Client(keystone.session('admin', 'admin'))


@pytest.fixture(scope='session')
def console(keystone, climate, tmp_path_factory):
    """The address of a climate-console that logs in at the same Keystone."""
    port = builders.a_free_port()
    config = tmp_path_factory.mktemp('console') / 'console.conf'
    config.write_text(f'[console]\nport = {port}\nauth_url = {keystone.url}\n')
    with programs.listening(browser.BIN / 'climate-console', '--config-file', config, port=port):
        yield f'http://127.0.0.1:{port}/'


@pytest.fixture(scope='session')
def horizon_log(tmp_path_factory):
    """The path of what Horizon writes."""
    return tmp_path_factory.mktemp('horizon') / 'horizon.log'


@pytest.fixture(scope='session')
def horizon(horizon_bin, horizon_log, keystone, console):
    """The URL of a Horizon."""
    with horizon_process.running(horizon_bin, horizon_log, keystone.url, console) as url:
        yield url


@pytest.fixture(scope='session')
def chromium():
    """A Chromium without a window."""
    with browser.chromium('--window-size=1280,900') as found:
        yield found


@pytest.fixture
def demo(keystone, climate):
    """The client library of a member of project demo."""
    return service.Client(keystone.session('demo', 'demo'))


@pytest.fixture
def page(horizon, climate, chromium):
    """A HorizonPage on which nobody is logged in, with no lease there."""
    for lease in climate.leases.list(all_projects=True):
        climate.leases.delete(lease['id'])
        climate.leases.wait(lease['id'], 'deleted')
    found = horizon_page.HorizonPage(chromium, horizon)
    yield found
    assert found.complaints() == []
