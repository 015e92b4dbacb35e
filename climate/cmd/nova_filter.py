# SPDX-License-Identifier: Apache-2.0
"""What nova.conf says of Climate's scheduler filter, compared with climate.conf."""
import os

from oslo_config import cfg

from climate.conf import nova

DEFAULT_FILE = '/etc/nova/nova.conf'
_FILTER = 'ClimateFilter'
_PATH = 'climate.nova.filter.ClimateFilter'
# Options of [nova] in climate.conf and of [climate] in nova.conf, which must be equal.
_NAMES = ('aggregate_freepool', 'aggregate_owner_key', 'availability_zone_prefix')
OPTIONS = (
    cfg.MultiStrOpt('nova-config-file', default=[], metavar='PATH',
                    help='With "upgrade check": the nova.conf of nova-scheduler, or a copy of it; '
                         f'give it once for each file. Default: {DEFAULT_FILE}, if there is one.'),
)


class Unreadable(Exception):
    """The files of Nova cannot be read; the text says why."""


def files(conf):
    """Return the files of Nova to read: those that were named, else the usual one if it is there.

    :param conf: has OPTIONS.
    """
    if conf.nova_config_file:
        return conf.nova_config_file
    return [DEFAULT_FILE] if os.access(DEFAULT_FILE, os.R_OK) else []


def problems(conf, paths):
    """Return what is wrong in the files of Nova, as a list of sentences.

    :param conf: the configuration of Climate.
    :raises Unreadable: a file is missing or malformed.
    """
    theirs = _read(paths)
    found = []
    if _FILTER not in theirs.filter_scheduler.enabled_filters:
        found.append(f'[filter_scheduler] enabled_filters lacks {_FILTER}: Nova places any server '
                     'on the enrolled hosts.')
    if _PATH not in theirs.filter_scheduler.available_filters:
        found.append(f'[filter_scheduler] available_filters lacks {_PATH}: nova-scheduler does '
                     'not start with the filter.')
    for name in _NAMES:
        here, there = conf.nova[name], theirs.climate[name]
        if here != there:
            found.append(f'[climate] {name} is "{there}", but [nova] {name} of climate.conf is '
                         f'"{here}": the filter does not know the hosts of Climate.')
    if not (theirs.climate.auth_type or theirs.climate.auth_section):
        found.append('[climate] has no login (auth_type): the filter cannot ask Climate.')
    return found


def _read(paths):
    theirs = cfg.ConfigOpts()
    theirs.register_opts([cfg.ListOpt('enabled_filters', default=[]),
                          cfg.MultiStrOpt('available_filters', default=[])],
                         group='filter_scheduler')
    ours = [each for each in nova.OPTS if each.name in _NAMES]
    theirs.register_opts([*ours, cfg.StrOpt('auth_type'), cfg.StrOpt('auth_section')],
                         group='climate')
    try:
        theirs([], project='nova', default_config_files=paths, default_config_dirs=[])
        # Values are checked when they are read.
        for group in ('filter_scheduler', 'climate'):
            for name in theirs[group]:
                theirs[group][name]
    except cfg.Error as error:
        raise Unreadable(str(error)) from error
    return theirs
