# SPDX-License-Identifier: Apache-2.0
"""Climate itself beside this cloud: its configuration, its tables, its two daemons."""
import configparser

from tools.cloud import commands
from tools.cloud import configure
from tools.cloud import processes
from tools.cloud import services
from tools.cloud import settings

# {type: the optional service that it needs}
_SERVICE = {'virtual:volume': 'cinder', 'virtual:stack': 'heat', 'virtual:cluster': 'magnum'}
_NOT_FOR_USE = ('virtual:dummy',)
# In the order in which they start.
NAMES = ('climate-manager', 'climate-api')


def up(cloud):
    """Configure Climate, bring its tables up to date, start it, wait until a manager answers.

    :raises CloudError: the cloud or Climate's commands are not there, or Climate ended.
    """
    if not processes.answers(settings.url('keystone', '/v3')):
        raise settings.CloudError('The cloud does not answer: "python3 -m tools.cloud up" first.')
    processes.refuse_taken_ports(cloud, [('climate-api', settings.PORTS['climate'])])
    write_conf(cloud)
    if cloud.is_guest:
        _welcome(cloud)
    commands.run(cloud, [_command(cloud, 'climate-db'), '--config-file', conf_file(cloud),
                         'upgrade'], 'climate-db.log')
    for name in NAMES:
        start(cloud, name)
    processes.wait_for_answer(cloud, NAMES[0], settings.url('climate', '/healthcheck'))


def down(cloud):
    """Stop Climate; its leases stay in the database."""
    for name in reversed(NAMES):
        processes.stop(cloud, name)


def reset(cloud):
    """Stop Climate and drop its leases and hosts; what they have in the cloud stays there."""
    down(cloud)
    _sql(cloud, f'DROP DATABASE IF EXISTS {cloud.climate_name}; {_creation(cloud)}')


def _creation(cloud):
    return f'CREATE DATABASE IF NOT EXISTS {cloud.climate_name} CHARACTER SET utf8mb4'


def _sql(cloud, statements):
    commands.run(cloud, [
        'mariadb', '--host=127.0.0.1', f'--port={settings.PORTS["mariadb"]}', '--user=cloud',
        f'--password={settings.PASSWORD}', f'--execute={statements}'], 'climate-db.log')


def _welcome(cloud):
    """Make what a guest needs in the cloud: a database, people, their clouds.yaml."""
    _sql(cloud, _creation(cloud))
    services.fill_guest(cloud)
    people = {person: (user, project) if person == 'admin' else
              (f'{cloud.climate_name}-{user}', f'{cloud.climate_name}-{project}')
              for person, (user, project) in configure.PEOPLE.items()}
    configure.users_files(cloud, people, cloud.home,
                          reservation_endpoint_override=cloud.climate_endpoint)


def start(cloud, name, program=None):
    """Start one of Climate's daemons; returns at once.

    :param program: the path of another program that is started instead.
    """
    path = f'{cloud.climate_venv}/bin:{commands.environment(cloud)["PATH"]}'
    command = [program or _command(cloud, name), '--config-file', conf_file(cloud)]
    processes.start(cloud, name, command, env={'PATH': path})


def restart(cloud, name, options=''):
    """Restart one of Climate's daemons with more options in climate.conf."""
    processes.stop(cloud, name)
    write_conf(cloud)
    with conf_file(cloud).open('a') as written:
        written.write(options)
    start(cloud, name)
    wait_until_well(cloud, name)


def wait_until_well(cloud, name):
    if name == 'climate-api':
        processes.wait_for_answer(cloud, name, settings.url('climate', '/'))


def conf_file(cloud):
    return cloud.home / 'conf' / 'climate' / 'climate.conf'


def write_conf(cloud):
    """Write climate.conf from its template, as user climate of project service."""
    commands.write(conf_file(cloud), configure.fill(cloud, 'climate.conf', 'climate',
                                                    name=cloud.climate_name,
                                                    plugins=','.join(plugins(cloud)))
                   + configure.fill(cloud, 'authtoken.conf', 'climate'))


def plugins(cloud):
    """Every type of this checkout whose services are there."""
    parser = configparser.ConfigParser()
    parser.read(settings.CHECKOUT / 'setup.cfg')
    types = [line.partition('=')[0].strip()
             for line in parser['options.entry_points']['climate.plugins'].split('\n') if line]
    return [each for each in types if each not in _NOT_FOR_USE
            and _SERVICE.get(each, 'neutron') in ('neutron', *cloud.optional)]


def _command(cloud, name):
    path = cloud.climate_venv / 'bin' / name
    if not path.exists():
        raise settings.CloudError(
            f'{path} does not exist. Install Climate in that virtualenv '
            f'(pip install --editable ".[service,mysql]"), or name another one in CLIMATE_VENV.')
    return path
