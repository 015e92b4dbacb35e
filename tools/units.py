# SPDX-License-Identifier: Apache-2.0
"""Start and stop systemd units as plain processes, on a machine where no systemd runs.

python -m tools.units ROOT enable --now NAME...   start what the units run
python -m tools.units ROOT disable --now NAME...  stop it
python -m tools.units ROOT start|stop NAME...     the same
python -m tools.units ROOT daemon-reload          make sure that each unit can be read

The units are in ROOT/etc/systemd/system, and the paths in them are below ROOT. Their processes are
kept as those of tools.cloud are, in ROOT/run and ROOT/log. The user and the restrictions of a unit
do not count.
"""
import configparser
import dataclasses
import os
import pathlib
import shlex
import sys

from tools.cloud import processes
from tools.cloud import settings

UNITS = 'etc/systemd/system'


def command(root, name):
    """The words that a unit starts; its paths are below `root`."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    with (root / UNITS / f'{name}.service').open() as opened:
        parser.read_file(opened)
    words = shlex.split(parser['Service']['ExecStart'])
    return [f'{root}{word}' if word.startswith('/') else word for word in words]


def main(arguments):
    """Do what the command line asks for; returns the exit code."""
    root, verb, *names = arguments
    root = pathlib.Path(root)
    cloud = dataclasses.replace(settings.from_environment(os.environ), folder=root)
    cloud.make_folders()
    if verb == 'daemon-reload':
        for unit in (root / UNITS).glob('*.service'):
            command(root, unit.stem)
        return 0
    if verb in ('enable', 'disable') and names[:1] == ['--now']:
        verb, names = {'enable': 'start', 'disable': 'stop'}[verb], names[1:]
    if verb not in ('start', 'stop'):
        print(f'"{verb}" is not known here; start and stop are, and enable and disable with --now.',
              file=sys.stderr)
        return 2
    for name in names:
        if verb == 'start':
            processes.start(cloud, name, command(root, name))
        else:
            processes.stop(cloud, name)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
