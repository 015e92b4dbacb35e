# SPDX-License-Identifier: Apache-2.0
"""A real OpenStack on this machine, on loopback: python3 -m tools.cloud VERB, from the checkout.

up              install what is missing, start everything, return when servers can boot
down            stop everything; the data stay
status          show processes and APIs; exit code 1 when something is missing
reset           down, then drop all data
restart NAME... stop and start single processes, for example nova-scheduler
climate-up      start this checkout's Climate beside the cloud (first: up)
climate-down    stop Climate
climate-reset   climate-down, then drop the data of Climate; the cloud keeps its own

Environment, to be the same at each call:
CLOUD_DIR              where everything is kept (default: .cloud in the checkout)
CLOUD_VENV             the virtualenv of the services (default: CLOUD_DIR/venv)
CLOUD_SHIFT            is added to every port, for a second cloud on the machine (default: 0)
CLOUD_COMPUTES         how many nova-compute (default: 4)
CLOUD_WITH             optional services (default: cinder,heat,magnum; "none": none of them)
CLOUD_FILTER           0: without Climate's filters in nova-api and nova-scheduler (default: 1)
CLOUD_NOVA_EXTRA       a file that is appended to nova.conf
CLOUD_NOVA_PASTE       a file that is used as Nova's api-paste.ini
CLOUD_MIGRATE_SECONDS  how long live migrations last, or a file with that number (default: 0)
CLIMATE_VENV           the virtualenv of Climate (default: .venv in the checkout)
CLIMATE_NAME           another name than climate: a guest beside the cloud's own Climate, with its
                       own folder CLOUD_DIR/guests/NAME, database, users and projects
CLIMATE_PORT           the port of Climate's API, which a guest needs
CLIMATE_HOSTS          the computes that the tests enrol, or "none" (default: all of them)
"""
import argparse
import fcntl
import os
import sys

from tools.cloud import climate_service
from tools.cloud import settings
from tools.cloud import verbs

VERBS = ('up', 'down', 'status', 'reset', 'restart', 'climate-up', 'climate-down',
         'climate-reset')


def main(arguments):
    """Do what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog='python3 -m tools.cloud', description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('verb', choices=VERBS, metavar='VERB')
    parser.add_argument('names', nargs='*', metavar='NAME')
    asked = parser.parse_args(arguments)
    if asked.names and asked.verb != 'restart':
        parser.error(f'{asked.verb} takes no names')
    try:
        cloud = settings.from_environment(os.environ)
        cloud.make_folders()
        return _do(cloud, asked.verb, asked.names)
    except settings.CloudError as error:
        print(f'error: {error}', file=sys.stderr)
        return 1


def _do(cloud, verb, names):
    if verb == 'status':
        return 0 if verbs.status(cloud) else 1
    with (cloud.home / 'lock').open('w') as lock:
        # Two at once would start everything twice; the second waits for the first.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if verb == 'restart':
            verbs.restart(cloud, names)
        else:
            {'up': verbs.up, 'down': verbs.down, 'reset': verbs.reset,
             'climate-up': climate_service.up, 'climate-down': climate_service.down,
             'climate-reset': climate_service.reset}[verb](cloud)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
