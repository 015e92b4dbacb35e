# SPDX-License-Identifier: Apache-2.0
"""The sdist and the wheel hold every file, and the installed wheel runs the service."""
import configparser
import json
import os
import subprocess
import tarfile
import zipfile

import pytest
import requests
from support import builders
from support import building
from support import waiting

from climate.db import migrate

_PROGRAMS = ('climate', 'climate-api', 'climate-console', 'climate-db', 'climate-manager',
             'climate-standalone', 'climate-status')
_SETUP = configparser.ConfigParser()
_SETUP.read(building.ROOT / 'setup.cfg')
VERSION = _SETUP['metadata']['version']
_DATA = f'openstack_climate-{VERSION}.data/data/'
_ENTRY_POINTS = '''
from importlib import metadata
for point in metadata.distribution('openstack-climate').entry_points:
    # python-openstackclient is not in [service].
    if point.group not in ('openstack.cli.extension', 'openstack.extension'):
        try:
            point.load()
        except ModuleNotFoundError as error:
            if (error.name or '').startswith('climate'):
                raise
            print(error.name)
'''
_MAIL = '''
from climate.notifiers import mail_templates
import jinja2
print(*sorted(jinja2.PackageLoader('climate.notifiers').list_templates()))
'''


def files_of(tree, *parts):
    """Return the paths of all files below folders of the tree, relative to it."""
    return {str(path.relative_to(tree)) for part in parts for path in (tree / part).rglob('*')
            if path.is_file() and path.suffix != '.pyc'}


def contents(wheel):
    """{path: CRC} of the files in a wheel, without its own RECORD."""
    with zipfile.ZipFile(wheel) as opened:
        return {each.filename: each.CRC for each in opened.infolist()
                if not each.filename.endswith('/RECORD')}


def test_the_wheel_holds_every_file_of_the_package_and_of_etc(tree, wheel):
    found = {name.removeprefix(_DATA) for name in contents(wheel)
             if name.startswith(('climate/', _DATA))}
    assert found == files_of(tree, 'climate', 'etc')


def test_the_sdist_holds_every_file_of_the_tree(tree, sdist):
    with tarfile.open(sdist) as opened:
        found = {each.name.partition('/')[2] for each in opened if each.isfile()}
    assert files_of(tree, '') - found == set()


def test_the_wheel_of_the_sdist_equals_the_wheel_of_the_tree(wheel, wheel_of_sdist):
    assert contents(wheel_of_sdist) == contents(wheel)


@pytest.fixture
def place(tmp_path):
    """A folder outside the checkout, with a configuration on SQLite and the simulated cloud."""
    (tmp_path / 'climate.conf').write_text(
        f'[database]\nconnection = sqlite:///{tmp_path}/climate.sqlite\n'
        '[cloud]\ndriver = simulated\n[api]\nauth_strategy = noauth\n')
    return tmp_path


def environment(**more):
    """Return the environment without variables that could lead Python to the checkout."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(('PYTHON', 'OS_', 'CLIMATE_'))} | more


@pytest.mark.parametrize('program', _PROGRAMS)
def test_a_program_prints_the_version_of_the_wheel(installed, place, program):
    done = subprocess.run([installed / program, '--version'], cwd=place, env=environment(),
                          capture_output=True, text=True, check=True)
    assert VERSION in (done.stdout + done.stderr).split()


def test_climate_db_creates_the_newest_tables(installed, place):
    def climate_db(command):
        return building.run(installed / 'climate-db', '--config-file', place / 'climate.conf',
                            command, cwd=place, env=environment()).strip()

    assert climate_db('upgrade') == migrate.newest()
    assert climate_db('version') == migrate.newest()


def test_climate_status_checks_the_upgrade(installed, place):
    building.run(installed / 'climate-db', '--config-file', place / 'climate.conf', 'upgrade',
                 cwd=place, env=environment())
    done = subprocess.run([installed / 'climate-status', '--config-file', place / 'climate.conf',
                           'upgrade', 'check', '--json'], cwd=place, env=environment(),
                          capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)['checks'], done.stderr


def test_every_entry_point_of_the_service_can_be_loaded(installed, place):
    # The extras forecast and redfish are not installed.
    missing = building.run(installed / 'python', '-c', _ENTRY_POINTS, cwd=place,
                           env=environment()).splitlines()
    assert missing == ['statsmodels', 'sushy']


def test_the_templates_of_mails_are_found(tree, installed, place):
    found = building.run(installed / 'python', '-c', _MAIL, cwd=place, env=environment()).split()
    assert found == sorted(path.name for path in (
        tree / 'climate' / 'notifiers' / 'templates').iterdir())


def test_the_sample_files_are_beside_the_programs(tree, installed):
    etc = installed.parent / 'etc' / 'climate'
    assert files_of(etc, '') == files_of(tree / 'etc' / 'climate', '')


@pytest.fixture
def standalone(installed, place):
    """The URLs of the API and the console of a climate-standalone of the installed wheel."""
    api, console = builders.a_free_port(), builders.a_free_port()
    process = subprocess.Popen(
        [installed / 'climate-standalone'], cwd=place, stdout=subprocess.PIPE, text=True,
        env=environment(CLIMATE_STATE=str(place / 'state'), OS_API__PORT=str(api),
                        OS_CONSOLE__PORT=str(console)))
    try:
        waiting.until(lambda: process.poll() is not None or _answers(console), 'It does not start.')
        assert process.poll() is None
        yield f'http://127.0.0.1:{api}', f'http://127.0.0.1:{console}'
    finally:
        process.terminate()
        process.communicate(timeout=waiting.SECONDS)


def _answers(port):
    try:
        return requests.get(f'http://127.0.0.1:{port}/healthcheck', timeout=5)
    except requests.RequestException:
        return False


def test_the_standalone_leases_hosts(standalone):
    api, _ = standalone
    headers = {'X-Auth-Token': 'demo:demo:admin,member',
               'OpenStack-API-Version': 'reservation 1.1'}
    lease = requests.post(f'{api}/v1/leases', timeout=30, headers=headers, json={
        'name': 'first', 'duration': '1h', 'reservations': [
            {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}).json()['lease']
    waiting.until(lambda: requests.get(
        f'{api}/v1/leases/{lease["id"]}', timeout=30, headers=headers).json()[
            'lease']['status'].lower() == 'active', 'The lease does not start.')


def test_the_console_serves_its_pages_and_every_static_file(tree, standalone):
    _, console = standalone
    static = tree / 'climate' / 'console' / 'static'
    answers = {name: requests.get(f'{console}/static/{name}', timeout=30)
               for name in files_of(static, '')}
    assert len(answers) > 20
    assert [name for name, answer in answers.items() if answer.content != (
        static / name).read_bytes()] == []
    assert requests.get(f'{console}/login', timeout=30).status_code == 200
