# SPDX-License-Identifier: Apache-2.0
"""Install what the cloud runs: four Debian packages and a virtualenv with every service."""
import hashlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

from tools.cloud import commands
from tools.cloud import packages
from tools.cloud import settings

PINS = settings.TOOL / 'pins.txt'
PROGRAMS = {
    'mariadb-server': '/usr/sbin/mariadbd',
    'rabbitmq-server': '/usr/lib/rabbitmq/bin/rabbitmq-server',
    'memcached': '/usr/bin/memcached',
    'nginx-light': '/usr/sbin/nginx',
}
DRIVERS = """\
[neutron.ml2.mechanism_drivers]
bind_everywhere = mechanism_driver:BindEverywhere

[magnum.drivers]
plain_servers = cluster_driver:PlainServers
"""


def install(cloud):
    """Install whatever is missing; quick when nothing is."""
    _debian_packages(cloud)
    _virtualenv(cloud)
    _plugins(cloud)


def _debian_packages(cloud):
    missing = [package for package, program in PROGRAMS.items()
               if not os.path.exists(program)]
    if importlib.util.find_spec('ensurepip') is None:
        missing.append('python3-venv')
    packages.install(cloud, missing)


def fingerprint():
    """The name of the set of versions; a virtualenv made from another set is not used."""
    return hashlib.sha256(PINS.read_bytes()).hexdigest()


def _virtualenv(cloud):
    stamp = cloud.venv / '.ready'
    if stamp.exists() and stamp.read_text() == fingerprint():
        return
    if cloud.venv.exists() and not stamp.exists():
        raise settings.CloudError(
            f'{cloud.venv} exists and was not made by this tool, which would empty it. '
            f'Remove it, or name another one in CLOUD_VENV.')
    commands.say(f'making the virtualenv {cloud.venv}')
    commands.run(cloud, [_python(), '-m', 'venv', '--clear', cloud.venv], 'pip.log', os.environ)
    stamp.write_text('unfinished')
    pip = [cloud.python, '-m', 'pip', 'install', '--quiet']
    try:
        commands.run(cloud, [*pip, '--constraint', PINS, 'uv'], 'pip.log', os.environ)
        commands.run(cloud, [cloud.tool('uv'), 'pip', 'install', '--python', cloud.python,
                             '--no-deps', '--requirement', PINS], 'pip.log', os.environ)
    except settings.CloudError:  # uv does not read pip's own configuration of indexes
        commands.say('uv could not do it; trying pip, which takes two minutes longer')
        commands.run(cloud, [*pip, '--no-deps', '--requirement', PINS], 'pip.log', os.environ)
    stamp.write_text(fingerprint())


def _python():
    """A Python 3.11: the pinned versions are tried with that one only."""
    if sys.version_info[:2] == (3, 11):
        return sys.executable
    found = shutil.which('python3.11')
    if not found:
        raise settings.CloudError('python3.11 is not in PATH; the cloud needs it.')
    return found


def _plugins(cloud):
    """Make the checkout and this tool's own drivers importable in the virtualenv.

    They come after the installed packages, so that nothing of OpenStack's is hidden, and of
    Climate only `climate.nova` will find what it imports there.
    """
    about = cloud.plugins / 'cloud_drivers-1.0.dist-info'
    commands.write(about / 'METADATA', 'Metadata-Version: 2.1\nName: cloud_drivers\nVersion: 1.0\n')
    commands.write(about / 'entry_points.txt', DRIVERS)
    site = cloud.venv / 'lib' / 'python3.11' / 'site-packages'
    commands.write(site / 'climate-cloud.pth',
                   f'{settings.CHECKOUT}\n{cloud.plugins}\n{settings.TOOL / "inside"}\n')


def check_filters(cloud):
    """Make sure that Nova's Python imports Climate's two filters from this checkout.

    :raises CloudError: it does not; the message has the reason.
    """
    if not cloud.climate_filters:
        return
    done = subprocess.run(
        [cloud.python, '-c', 'from climate.nova import filter, middleware; '
         'filter.ClimateFilter, middleware.filter_factory; print(filter.__file__)'],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env=commands.environment(cloud), cwd=cloud.run)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ['no reason given'])[-1]
        raise settings.CloudError(
            f'Nova cannot load the filters of climate.nova: {reason}. '
            f'Mend them, or leave them out with CLOUD_FILTER=0.')
    if pathlib.Path(done.stdout.strip()) != settings.CHECKOUT / 'climate' / 'nova' / 'filter.py':
        raise settings.CloudError(
            f'Nova loads the filters from {done.stdout.strip()}, not from this checkout. '
            f'Take that away: {cloud.python} -m pip uninstall openstack-climate')
