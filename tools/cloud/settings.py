# SPDX-License-Identifier: Apache-2.0
"""Where the cloud's files are, which ports it takes, and what the environment may change."""
import dataclasses
import getpass
import grp
import os
import pathlib

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(__file__).resolve().parent
PASSWORD = 'secret'
DATABASES = ('keystone', 'placement', 'glance', 'nova', 'nova_api', 'nova_cell0', 'neutron',
             'cinder', 'climate')

# The APIs are where every OpenStack puts them. The others stay clear of the ports on which
# Debian starts the same programs (3306, 5672 and 25672, 4369, 11211, 80).
PORTS = {
    'keystone': 5000, 'placement': 8778, 'glance': 9292, 'nova': 8774, 'neutron': 9696,
    'cinder': 8776, 'climate': 1234, 'mariadb': 23306, 'rabbitmq': 23672,
    'rabbitmq_cluster': 23673, 'epmd': 23369, 'memcached': 23211, 'nginx': 23080,
}


class CloudError(Exception):
    """Something the person at the keyboard can mend; the message says what."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """One cloud: its folder, its virtualenv and its switches."""

    folder: pathlib.Path
    venv: pathlib.Path
    venv_is_shared: bool
    climate_venv: pathlib.Path
    computes: int = 4
    cinder: bool = False
    climate_filters: bool = True
    nova_extra: pathlib.Path | None = None
    nova_paste: pathlib.Path | None = None

    @property
    def conf(self):
        return self.folder / 'conf'

    @property
    def run(self):
        return self.folder / 'run'

    @property
    def log(self):
        return self.folder / 'log'

    @property
    def data(self):
        return self.folder / 'data'

    @property
    def plugins(self):
        """What Python must find beside the packages of the virtualenv."""
        return self.folder / 'plugins'

    @property
    def python(self):
        return self.venv / 'bin' / 'python'

    @property
    def compute_hosts(self):
        return [f'compute{number + 1}' for number in range(self.computes)]

    @property
    def apis(self):
        """{name: path that answers below 500 when the API is well}, in the order they start."""
        paths = {'keystone': '/v3', 'placement': '/', 'glance': '/healthcheck', 'neutron': '/',
                 'nova': '/'}
        return paths | ({'cinder': '/'} if self.cinder else {})

    @property
    def listeners(self):
        """Pairs (process, port) of all but Climate itself."""
        owners = {'nova': 'nova-api', 'cinder': 'cinder-api', 'rabbitmq_cluster': 'rabbitmq'}
        used = set(PORTS) - {'climate'} - (set() if self.cinder else {'cinder'})
        return [(owners.get(name, name), PORTS[name]) for name in sorted(used)]

    def tool(self, name):
        """The path of a command in the cloud's virtualenv."""
        return str(self.venv / 'bin' / name)

    def inside(self, name):
        """The path of one of the scripts that the cloud's own Python runs."""
        return str(TOOL / 'inside' / name)

    def make_folders(self):
        for folder in (self.conf, self.run, self.log, self.data, self.plugins):
            folder.mkdir(parents=True, exist_ok=True)


def url(name, path=''):
    """The URL of one API on loopback."""
    return f'http://127.0.0.1:{PORTS[name]}{path}'


def user():
    """The name of the user that runs the cloud."""
    return getpass.getuser()


def group():
    """The name of that user's group."""
    return grp.getgrgid(os.getegid()).gr_name


def from_environment(environment):
    """The settings that the variables name, with defaults for the rest.

    :param environment: a mapping such as ``os.environ``.
    :raises CloudError: a variable has a value that cannot be used.
    """
    folder = _path(environment, 'CLOUD_DIR') or CHECKOUT / '.cloud'
    venv = _path(environment, 'CLOUD_VENV')
    return Settings(
        folder=folder,
        venv=venv or folder / 'venv',
        venv_is_shared=venv is not None,
        climate_venv=_path(environment, 'CLIMATE_VENV') or CHECKOUT / '.venv',
        computes=_count(environment, 'CLOUD_COMPUTES', 4),
        cinder=_switch(environment, 'CLOUD_CINDER', False),
        climate_filters=_switch(environment, 'CLOUD_FILTER', True),
        nova_extra=_path(environment, 'CLOUD_NOVA_EXTRA'),
        nova_paste=_path(environment, 'CLOUD_NOVA_PASTE'))


def _path(environment, name):
    value = environment.get(name)
    return pathlib.Path(value).expanduser().resolve() if value else None


def _count(environment, name, default):
    value = environment.get(name) or str(default)
    if not value.isdigit() or not 1 <= int(value) <= 64:
        raise CloudError(f'{name} must be a number from 1 to 64, not "{value}".')
    return int(value)


def _switch(environment, name, default):
    value = environment.get(name) or ('1' if default else '0')
    if value not in ('0', '1'):
        raise CloudError(f'{name} must be 0 or 1, not "{value}".')
    return value == '1'
