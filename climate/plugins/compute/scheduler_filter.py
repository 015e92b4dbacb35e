# SPDX-License-Identifier: Apache-2.0
"""The check that nova.conf enables Climate's scheduler filter with the options of climate.conf."""
import os

from oslo_config import cfg

from climate.conf import services

_FILTER = 'ClimateFilter'
_PATH = 'climate.nova.filter.ClimateFilter'
# The options whose values in [nova] of climate.conf and in [climate] of nova.conf must be equal.
_NAMES = ('aggregate_freepool', 'aggregate_owner_key', 'availability_zone_prefix')


class Unreadable(Exception):
    """The files of Nova cannot be read; the text says why."""


def check(conf):
    """Return the problems in the files of [nova] scheduler_config_files, as sentences.

    :returns: a list; None if there is no file to read.
    """
    paths = conf.nova.scheduler_config_files
    if list(paths) == services.SCHEDULER_FILES:
        if conf.cloud.driver == 'simulated':
            return []
        paths = [path for path in paths if os.access(path, os.R_OK)]
    if not paths:
        return None
    try:
        return [f'{", ".join(paths)}: {problem}' for problem in problems(conf, paths)]
    except Unreadable as error:
        return [f'[nova] scheduler_config_files: {error}']


def problems(conf, paths):
    """Return the problems in the files of Nova, as a list of sentences.

    :param conf: the configuration of Climate.
    :raises Unreadable: a file is missing or malformed.
    """
    nova_conf = _read(paths)
    sentences = []
    if _FILTER not in nova_conf.filter_scheduler.enabled_filters:
        sentences.append(f'[filter_scheduler] enabled_filters lacks {_FILTER}: Nova places any '
                         'server on the enrolled hosts.')
    if _PATH not in nova_conf.filter_scheduler.available_filters:
        sentences.append(f'[filter_scheduler] available_filters lacks {_PATH}: nova-scheduler does '
                         'not start with the filter.')
    for name in _NAMES:
        own, of_nova = conf.nova[name], nova_conf.climate[name]
        if own != of_nova:
            sentences.append(f'[climate] {name} is "{of_nova}", but [nova] {name} of climate.conf '
                             f'is "{own}": the filter does not know the hosts of Climate.')
    if not (nova_conf.climate.auth_type or nova_conf.climate.auth_section):
        sentences.append('[climate] has no login (auth_type): the filter cannot ask Climate.')
    return sentences


def _read(paths):
    nova_conf = cfg.ConfigOpts()
    nova_conf.register_opts([cfg.ListOpt('enabled_filters', default=[]),
                             cfg.MultiStrOpt('available_filters', default=[])],
                            group='filter_scheduler')
    shared = [option for option in services.NOVA.own if option.name in _NAMES]
    nova_conf.register_opts([*shared, cfg.StrOpt('auth_type'), cfg.StrOpt('auth_section')],
                            group='climate')
    try:
        nova_conf([], project='nova', default_config_files=paths, default_config_dirs=[])
        # Read the values, because oslo.config checks a value only then.
        for group in ('filter_scheduler', 'climate'):
            for name in nova_conf[group]:
                nova_conf[group][name]
    except cfg.Error as error:
        raise Unreadable(str(error)) from error
    return nova_conf
