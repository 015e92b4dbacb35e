# SPDX-License-Identifier: Apache-2.0
"""A reader of the installation pages at this cloud: what differs here, and what cannot be done."""
import os
import shutil
import sys

from tools import pages
from tools.cloud import install
from tools.cloud import programs
from tools.cloud import settings

DATABASE = 'climate_pages'
# {line of a page: why it is not run}
NOT_RUN = {
    "/opt/climate/bin/pip install 'openstack-climate[service,mysql]'":
        'PyPI has no release; the page\'s other way, from a checkout, is run.',
    "/opt/climate/bin/pip install --upgrade 'openstack-climate[service,mysql]'":
        'The same.',
    'useradd --system --home-dir /var/lib/climate --shell /usr/sbin/nologin climate':
        'The users of this machine stay as they are; the daemons run as who runs the tests.',
    'chown root:climate /etc/climate/climate.conf':
        'There is no group climate without that user.',
    'userdel climate': 'There is no such user.',
}


def _changes(cloud, root, host):
    """{text of a page: what stands for it here}

    Folders of the machine are below `root`, the services are on loopback, and the database server
    has a database `climate` already.
    """
    ports = settings.PORTS
    conf = root / 'etc' / 'climate' / 'climate.conf'
    folders = ('/opt/climate', '/opt/climate/etc', '/usr/bin', '/etc/climate', '/etc/nova',
               '/etc/systemd/system', '/etc/cron.d', '/var/log/climate', '/var/lib/climate')
    login = ' '.join(sql_command()[1:])
    return {folder: f'{root}{folder}' for folder in folders} | {
        'admin-openrc': f'{cloud.folder}/openrc',
        'controller': '127.0.0.1', 'PASSWORD': settings.PASSWORD,
        'controller:5672': f'127.0.0.1:{ports["rabbitmq"]}',
        'controller/climate?': f'127.0.0.1:{ports["mariadb"]}/{DATABASE}?',
        'DATABASE climate': f'DATABASE {DATABASE}', 'ON climate.*': f'ON {DATABASE}.*',
        # Nobody is there to be asked.
        '--password-prompt': f'--password {settings.PASSWORD}',
        '-o root -g climate ': '',
        'python3 -m pip': f'{cloud.python} -m pip',
        'https://releases.openstack.org/constraints/upper/2026.2 openstack-climate':
            f'{install.PINS} .',
        'climate-db': f'climate-db --config-file {conf}',
        'climate-manager audit': f'climate-manager --config-file {conf} audit',
        'mariadb-dump': f'mariadb-dump {login.partition(" --batch")[0]}',
        'climate.leases': f'{DATABASE}.leases',
        'climate.sql climate': f'climate.sql {DATABASE}',
        'mariadb climate': f'mariadb {login} {DATABASE}',
        'climate-status': f'climate-status --config-file {conf}',
        'climate-status upgrade check': f'climate-status --config-file {conf} upgrade check '
                                        f'--nova-config-file {cloud.conf}/nova/nova.conf',
        'compute1': host, 'IMAGE': 'tiny', 'FLAVOR': 'm1.nano', 'NETWORK': 'private',
    }


def _commands(cloud):
    """{command that the pages use: the script that stands for it}"""
    tool = f'cd {settings.CHECKOUT} && exec {sys.executable} -m'
    rabbit = ' '.join(f"'{name}={value}'"
                      for name, value in programs.rabbitmq_environment(cloud).items())
    return {
        'openstack': f'exec {sys.prefix}/bin/openstack "$@"',
        'rabbitmqctl': f'exec env {rabbit} /usr/lib/rabbitmq/bin/rabbitmqctl "$@"',
        'systemctl': f'if [ "$1" = restart ]; then {tool} tools.cloud "$@"; fi\n'
                     f'{tool} tools.units "$ROOT" "$@"',
    }


def sql_command():
    """The words that start a session of the database's administrator."""
    return ['mariadb', '--no-defaults', '--user=root', '--host=127.0.0.1',
            f'--port={settings.PORTS["mariadb"]}', '--batch', '--skip-column-names']


def new(cloud, root, host):
    """A pages.Reader in a copy of the checkout, at a machine whose folders are below `root`.

    :param host: the hypervisor that it enrols.
    """
    for folder in ('usr/bin', 'etc/systemd/system', 'etc/nova', 'shims', 'run', 'log'):
        (root / folder).mkdir(parents=True)
    checkout = root / 'checkout'
    shutil.copytree(settings.CHECKOUT, checkout, ignore=shutil.ignore_patterns(
        '.*', 'build', '*.egg-info', '__pycache__'))
    for name, script in _commands(cloud).items():
        file = root / 'shims' / name
        file.write_text(f'#!/bin/sh\n{script}\n')
        file.chmod(0o755)
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(('OS_', 'PYTHON', 'CLOUD_')) and name != 'VIRTUAL_ENV'}
    made = pages.Reader(checkout, kept | {
        'PATH': f'{root}/shims:{root}/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:'
                '/sbin:/bin',
        'ROOT': str(root), 'NO_PROXY': '127.0.0.1', 'no_proxy': '127.0.0.1',
        'CLOUD_DIR': str(cloud.folder), 'CLOUD_VENV': str(cloud.venv), 'CLOUD_FILTER': '0',
        'CLOUD_COMPUTES': str(cloud.computes), 'CLOUD_WITH': ','.join(cloud.optional) or 'none',
        'CLOUD_SHIFT': os.environ.get('CLOUD_SHIFT', '0'),
        'CLOUD_NOVA_EXTRA': f'{root}/etc/nova/nova.conf',
        'CLOUD_NOVA_PASTE': f'{root}/nova-api-paste.ini'}, sql_command())
    for text, other in _changes(cloud, root, host).items():
        made.change(text, other)
    for line, reason in NOT_RUN.items():
        made.omit(line, reason)
    return made
