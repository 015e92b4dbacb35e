# SPDX-License-Identifier: Apache-2.0
"""A real Blazar on the real cloud: its virtualenv, its database and its two processes.

Blazar uses the service user of the cloud's Climate, and the address that the catalogue names for
reservations. So it runs only while no Climate runs.
"""
import sys

import pymysql
import scene as scenes

from tools.cloud import commands
from tools.cloud import configure
from tools.cloud import install
from tools.cloud import processes
from tools.cloud import settings

PACKAGES = ('blazar==18.0.0', 'PyMySQL', 'python-memcached', 'waitress')
NAMES = ('blazar-manager', 'blazar-api')
PLUGINS = ('physical.host.plugin', 'virtual.instance.plugin', 'flavor.instance.plugin',
           'virtual.floatingip.plugin')
DATABASE = 'blazar'
SOURCE = f'{configure.database_url()}/{DATABASE}'
#: Options of nova-scheduler.
FILTER = f"""\
[filter_scheduler]
available_filters = blazarnova.scheduler.filters.blazar_filter.BlazarFilter
enabled_filters = {','.join(configure.FILTERS)},BlazarFilter
"""
_CONF = """\
[DEFAULT]
transport_url = {rabbit}
os_auth_port = {keystone_port}
os_admin_username = climate
os_admin_password = {password}
os_admin_project_name = service
os_region_name = RegionOne

[manager]
plugins = {plugins}
minutes_before_end_lease = 10

[database]
connection = {source}

[oslo_messaging_rabbit]
rabbit_quorum_queue = false

"""


def restart_nova(cloud, **files):
    """Restart the two programs of Nova that have filters.

    :param files: CLOUD_NOVA_EXTRA, more options; CLOUD_NOVA_PASTE, other pipelines of nova-api.
    """
    scenes.run(cloud, scenes.PYTHON, '-m', 'tools.cloud', 'restart', 'nova-scheduler', 'nova-api',
               seconds=300, **{name: str(path) for name, path in files.items()})


class Refused(AssertionError):
    """Blazar answered with an error.

    :ivar code: the status of HTTP.
    """

    def __init__(self, response):
        super().__init__(f'{response.status_code} {response.text}')
        self.code = response.status_code


def venv(cloud):
    """Return the virtualenv of Blazar; install it if it is missing."""
    folder = cloud.folder / 'blazar'
    if not (folder / 'complete').exists():
        scenes.run(cloud, sys.executable, '-m', 'venv', '--clear', folder)
        scenes.run(cloud, folder / 'bin' / 'pip', 'install', '--quiet', '--constraint',
                   install.PINS, *PACKAGES, seconds=1200)
        (folder / 'complete').touch()
    return folder


class Blazar:
    """The Blazar of a cloud."""

    def __init__(self, cloud, people):
        self._cloud, self._people = cloud, people
        self._venv = venv(cloud)
        self._conf = cloud.conf / 'blazar'

    def create(self):
        """Write its configuration, and create its database without rows."""
        values = configure.values(self._cloud, 'climate')
        commands.write(self._conf / 'blazar.conf', _CONF.format(
            rabbit=values['rabbit'], keystone_port=values['keystone_port'],
            password=values['password'], plugins=','.join(PLUGINS), source=SOURCE)
            + configure.fill(self._cloud, 'authtoken.conf', 'climate'))
        self.drop()
        self.sql(f'CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4', database=None)
        scenes.run(self._cloud, self._venv / 'bin' / 'blazar-db-manage', '--config-file',
                   self._conf / 'blazar.conf', 'upgrade', 'head')

    def drop(self):
        """Drop its database."""
        self.sql(f'DROP DATABASE IF EXISTS {DATABASE}', database=None)

    def start(self):
        """Start both processes; return as soon as they answer."""
        python = self._venv / 'bin' / 'python'
        manager, api = NAMES
        processes.start(self._cloud, manager, [
            python, self._venv / 'bin' / manager, '--config-file', self._conf / 'blazar.conf'])
        processes.start(self._cloud, api, [
            python, self._cloud.inside('wsgi_runner.py'), 'blazar.wsgi.api',
            settings.PORTS['climate']], env={'OS_BLAZAR_CONFIG_DIR': str(self._conf)})
        processes.wait_for_answer(self._cloud, api, settings.url('climate', '/'))
        # The API answers only if the manager does.
        scenes.until(lambda: self.read('leases') is not None, 'blazar-manager to answer', 60)

    def stop(self):
        """Stop both processes. Harmless when repeated."""
        for name in reversed(NAMES):
            processes.stop(self._cloud, name)

    def request(self, method, path, body=None, person='admin'):
        """Return the response of its REST API, as the object in it.

        :raises Refused: it answered with an error.
        """
        response = self._people[person].session.request(
            f'/{path}', method, json=body, raise_exc=False, connect_retries=3,
            endpoint_filter={'service_type': 'reservation'})
        if response.status_code >= 400:
            raise Refused(response)
        answer = response.json() if response.text else {}
        return next(iter(answer.values()), None) if isinstance(answer, dict) else answer

    def read(self, path):
        """Return the objects at a path, as the administrator."""
        return self.request('GET', path)

    def sql(self, statement, *values, database=DATABASE):
        """Run one statement in its database; return the rows as dicts."""
        with pymysql.connect(
                host='127.0.0.1', port=settings.PORTS['mariadb'], user='cloud',
                password=settings.PASSWORD, database=database, autocommit=True,
                cursorclass=pymysql.cursors.DictCursor) as connection, \
                connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall()
