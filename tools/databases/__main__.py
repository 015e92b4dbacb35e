# SPDX-License-Identifier: Apache-2.0
"""Databases for tests, on loopback: python3 -m tools.databases VERB [NAME...], from the checkout.

up              install what is missing, start, print the URLs
down            stop; the data stay
url             print the URLs, one line each

NAME is mariadb, postgresql or galera. Without a name, the first two are started, and all are
stopped. A URL is what CLIMATE_TEST_DATABASE wants. galera is a cluster of three nodes, whose data
do not stay.

Environment, to be the same at each call:
DATABASES_DIR   where everything is kept (default: .cloud/databases in the checkout)
"""
import argparse
import fcntl
import os
import pathlib
import sys

from tools.cloud import packages
from tools.cloud import settings
from tools.databases import galera
from tools.databases import mariadb
from tools.databases import postgresql

SERVERS = {'mariadb': mariadb, 'postgresql': postgresql, 'galera': galera}
# The cluster is started only when it is named.
_USUAL = ('mariadb', 'postgresql')


def main(arguments):
    """Do what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog='python3 -m tools.databases', description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('verb', choices=('up', 'down', 'url'), metavar='VERB')
    parser.add_argument('names', nargs='*', metavar='NAME')
    asked = parser.parse_args(arguments)
    unknown = sorted(set(asked.names) - set(SERVERS))
    if unknown:
        parser.error(f'no database is called {", ".join(unknown)}; '
                     f'there are {", ".join(SERVERS)}')
    usual = SERVERS if asked.verb == 'down' else _USUAL
    names = [name for name in SERVERS if name in (asked.names or usual)]
    try:
        _do(_place(os.environ), asked.verb, names)
    except settings.CloudError as error:
        print(f'error: {error}', file=sys.stderr)
        return 1
    return 0


def _place(environment):
    """The folder of the databases, laid out as a cloud's so that its processes module serves."""
    folder = pathlib.Path(environment.get('DATABASES_DIR')
                          or settings.CHECKOUT / '.cloud' / 'databases').expanduser().resolve()
    return settings.Settings(folder=folder, venv=folder / 'venv', venv_is_shared=False,
                             climate_venv=settings.CHECKOUT / '.venv')


def _do(place, verb, names):
    if verb != 'url':
        place.make_folders()
        with (place.folder / 'lock').open('w') as lock:
            # Two at once would start everything twice; the second waits for the first.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if verb == 'up':
                packages.install(place, [package for name in names
                                         if SERVERS[name].program() is None
                                         for package in SERVERS[name].PACKAGES])
            for name in names:
                getattr(SERVERS[name], verb)(place)
    if verb != 'down':
        for name in names:
            print(SERVERS[name].url())


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
