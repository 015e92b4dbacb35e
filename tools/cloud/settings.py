# SPDX-License-Identifier: Apache-2.0
"""The files and ports of the cloud, and the variables that change them."""
import dataclasses
import getpass
import grp
import os
import pathlib
import re

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(__file__).resolve().parent
PASSWORD = 'secret'
DATABASES = ('keystone', 'placement', 'glance', 'nova', 'nova_api', 'nova_cell0', 'neutron',
             'cinder', 'heat', 'magnum', 'climate')

#: Services that may be left out, as Neutron may not: servers need networks.
OPTIONAL = ('cinder', 'heat', 'magnum')
#: {back end of Cinder: GB}. The first is for all; the others are for whom an administrator lets in.
BACKENDS = {'fake': 1000, 'lease': 200}

# The APIs are where every OpenStack puts them. The others stay clear of the ports on which
# Debian starts the same programs (3306, 5672 and 25672, 4369, 11211, 80).
_PORTS = {
    'keystone': 5000, 'placement': 8778, 'glance': 9292, 'nova': 8774, 'neutron': 9696,
    'cinder': 8776, 'heat': 8004, 'magnum': 9511, 'climate': 1234, 'mariadb': 23306,
    'rabbitmq': 23672, 'rabbitmq_cluster': 23673, 'epmd': 23369, 'memcached': 23211,
    'nginx': 23080,
}


def ports(environment):
    """{name: port}: a second cloud on the machine has all of them shifted, and Climate's own.

    What cannot be used is ignored here, and refused by `from_environment`.
    """
    def number(name, default):
        value = environment.get(name) or ''
        return int(value) if value.isdecimal() else default
    shift = number('CLOUD_SHIFT', 0)
    found = {name: port + shift for name, port in _PORTS.items()}
    return found | {'climate': number('CLIMATE_PORT', found['climate'])}


PORTS = ports(os.environ)


class CloudError(Exception):
    """Something the person at the keyboard can mend; the message says what."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """One cloud: its folder, its virtualenv and its switches."""

    folder: pathlib.Path
    venv: pathlib.Path
    venv_is_shared: bool
    climate_venv: pathlib.Path
    climate_name: str = 'climate'
    climate_hosts: tuple[str, ...] = ()
    computes: int = 4
    optional: tuple[str, ...] = OPTIONAL
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
    def is_guest(self):
        """Return whether this Climate is not the one that the catalogue of the cloud names."""
        return self.climate_name != 'climate'

    @property
    def home(self):
        """The folder of this Climate and its people: that of the cloud, unless it is a guest."""
        return self.folder / 'guests' / self.climate_name if self.is_guest else self.folder

    @property
    def climate_endpoint(self):
        """The URL of this Climate; None: the catalogue has it."""
        return url('climate', '/v1') if self.is_guest else None

    @property
    def plugins(self):
        """The modules that Python needs beside the packages of the virtualenv."""
        return self.folder / 'plugins'

    @property
    def python(self):
        return self.venv / 'bin' / 'python'

    @property
    def compute_hosts(self):
        return compute_names(self.computes)

    @property
    def apis(self):
        """{name: path that answers below 500 when the API is well}, in the order they start."""
        paths = {'keystone': '/v3', 'placement': '/', 'glance': '/healthcheck', 'neutron': '/',
                 'nova': '/'}
        return paths | dict.fromkeys(self.optional, '/')

    @property
    def listeners(self):
        """Pairs (process, port) of all but Climate itself."""
        owners = {'nova': 'nova-api', 'rabbitmq_cluster': 'rabbitmq'}
        owners |= {name: f'{name}-api' for name in self.optional}
        used = set(PORTS) - {'climate'} - (set(OPTIONAL) - set(self.optional))
        return [(owners.get(name, name), PORTS[name]) for name in sorted(used)]

    def tool(self, name):
        """The path of a command in the cloud's virtualenv."""
        return str(self.venv / 'bin' / name)

    def inside(self, name):
        """The path of one of the scripts that the cloud's own Python runs."""
        return str(TOOL / 'inside' / name)

    def home_of(self, process):
        """The folder that has the pid file and the log of a process."""
        return self.home if process.startswith('climate') else self.folder

    def make_folders(self):
        for folder in (self.conf, self.run, self.log, self.data, self.plugins, self.home / 'conf',
                       self.home / 'run', self.home / 'log'):
            folder.mkdir(parents=True, exist_ok=True)


def compute_names(count):
    return [f'compute{number + 1}' for number in range(count)]


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
    computes = _count(environment, 'CLOUD_COMPUTES', 4)
    for name in ('CLOUD_SHIFT', 'CLIMATE_PORT'):
        _check_port(environment, name)
    return Settings(
        folder=folder,
        venv=venv or folder / 'venv',
        venv_is_shared=venv is not None,
        climate_venv=_path(environment, 'CLIMATE_VENV') or CHECKOUT / '.venv',
        climate_name=_name(environment, 'CLIMATE_NAME', 'climate'),
        climate_hosts=_hosts(environment, 'CLIMATE_HOSTS', computes),
        computes=computes,
        optional=_optional(environment, 'CLOUD_WITH'),
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


def _check_port(environment, name):
    value = environment.get(name) or '0'
    if not value.isdecimal() or int(value) > 40000:
        raise CloudError(f'{name} must be a number from 0 to 40000, not "{value}".')


def _name(environment, name, default):
    value = environment.get(name) or default
    # It becomes the name of a folder, a database and users.
    if not re.fullmatch('[a-z][a-z0-9]{0,15}', value):
        raise CloudError(f'{name} must be up to 16 small letters and digits, not "{value}".')
    return value


def _optional(environment, name):
    value = environment.get(name) or ','.join(OPTIONAL)
    wanted = {word.strip() for word in value.split(',')}
    unknown = wanted - {*OPTIONAL, 'neutron', 'none'}
    if unknown:
        raise CloudError(
            f'{name} names {", ".join(sorted(unknown))}. Known: {", ".join(OPTIONAL)}; neutron, '
            'which is always there; none, for no other.')
    return tuple(each for each in OPTIONAL if each in wanted)


def _hosts(environment, name, computes):
    known = compute_names(computes)
    if environment.get(name) == 'none':
        return ()
    wanted = tuple((environment.get(name) or ','.join(known)).split(','))
    if not set(wanted) <= set(known):
        raise CloudError(f'{name} must name some of {",".join(known)}, or be "none", not '
                         f'"{environment[name]}".')
    return wanted
