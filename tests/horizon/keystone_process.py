# SPDX-License-Identifier: Apache-2.0
"""A real Keystone on SQLite, with the people and the catalog of the tests."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys

from keystoneauth1 import session
from keystoneauth1.identity import v3
import openstack
from support import builders
from support import programs

from tools.cloud import settings

PASSWORD = settings.PASSWORD
RUNNER = settings.TOOL / 'inside/wsgi_runner.py'
_CONF = """[DEFAULT]
log_file = {folder}/keystone.log
[database]
connection = sqlite:///{folder}/keystone.sqlite
[fernet_tokens]
key_repository = {folder}/fernet
"""


class Keystone:
    """A Keystone that runs.

    :ivar url: its URL, with /v3.
    """

    def __init__(self, folder, url):
        self._clouds = folder / 'clouds.yaml'
        self.url = url
        self._clouds.write_text(json.dumps({'clouds': {'admin': {
            'auth': {'auth_url': url, 'username': 'admin', 'password': PASSWORD,
                     'project_name': 'admin', 'user_domain_name': 'Default',
                     'project_domain_name': 'Default'},
            'region_name': 'RegionOne', 'identity_api_version': '3'}}}))

    def fill(self, **catalog):
        """Make users, projects and the catalog.

        :param catalog: {name of a service and of its user: (type, URL)}.
        """
        subprocess.run([sys.executable, settings.TOOL / 'inside/bootstrap_identity.py',
                        self._clouds, PASSWORD, json.dumps(catalog)], check=True)

    @contextlib.contextmanager
    def naming(self, name, kind, url):
        """Have one more service in the catalog."""
        identity = self._identity()
        service = identity.create_service(name=name, type=kind)
        for interface in ('public', 'internal', 'admin'):
            identity.create_endpoint(service_id=service.id, interface=interface, url=url,
                                     region_id='RegionOne')
        try:
            yield
        finally:
            # Its endpoints go with it.
            identity.delete_service(service)

    @contextlib.contextmanager
    def without(self, name):
        """Leave a service out of the catalog."""
        identity = self._identity()
        service = identity.find_service(name, ignore_missing=False)
        identity.update_service(service, is_enabled=False)
        try:
            yield
        finally:
            identity.update_service(service, is_enabled=True)

    def _identity(self):
        return openstack.connection.Connection(
            session=self.session('admin', 'admin'), region_name='RegionOne').identity

    def session(self, user, project):
        """Return a keystoneauth session of one of the people."""
        return session.Session(auth=v3.Password(
            self.url, username=user, password=PASSWORD, project_name=project,
            user_domain_name='Default', project_domain_name='Default'))


@contextlib.contextmanager
def running(bin_folder, folder):
    """Run a Keystone from a virtualenv; yields the Keystone."""
    port = builders.a_free_port()
    url = f'http://127.0.0.1:{port}/v3'
    config = pathlib.Path(folder, 'keystone.conf')
    config.write_text(_CONF.format(folder=folder))
    manage = [bin_folder / 'keystone-manage', '--config-file', config]
    owner = ['--keystone-user', settings.user(), '--keystone-group', settings.group()]
    for words in (['db_sync'], ['fernet_setup', *owner],
                  ['bootstrap', '--bootstrap-password', PASSWORD, '--bootstrap-public-url', url,
                   '--bootstrap-internal-url', url, '--bootstrap-admin-url', url,
                   '--bootstrap-region-id', 'RegionOne']):
        subprocess.run([*manage, *words], check=True, capture_output=True)
    env = {**os.environ, 'OS_KEYSTONE_CONFIG_DIR': str(folder),
           'OS_KEYSTONE_CONFIG_FILES': config.name}
    with programs.listening(bin_folder / 'python', RUNNER, 'keystone.wsgi.api', port,
                            port=port, env=env):
        yield Keystone(pathlib.Path(folder), url)
