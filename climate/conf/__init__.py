# SPDX-License-Identifier: Apache-2.0
"""Every option of Climate, one module a group; `register` adds them all to a `conf`."""
from oslo_config import cfg
from oslo_db import options as database
from oslo_log import log

from climate import version
from climate.conf import acquire
from climate.conf import api
from climate.conf import base
from climate.conf import cloud
from climate.conf import glance
from climate.conf import keystone
from climate.conf import manager
from climate.conf import nova
from climate.conf import placement
from climate.conf import simulated

MODULES = (base, api, manager, acquire, cloud, keystone, nova, placement, glance, simulated)


def register(conf):
    """Add the options of every group to `conf` and hand it back."""
    for module in MODULES:
        module.register(conf)
    # As many connections as a manager has workers stay open: oslo.db would close all but five of
    # them after each transaction.
    database.set_defaults(conf, connection='sqlite:////var/lib/climate/climate.sqlite',
                          max_pool_size=20)
    return conf


def load(argv, program, files=None, defaults=()):
    """The configuration that the command line and the files name, with logging registered.

    :param files: configuration files to read beside; None: those that oslo.config finds.
    :param defaults: triples (group, option, value) that take the place of ours.

    oslo.messaging keeps its tracing and metrics options on the global ``cfg.CONF`` and fails on
    any other; that is why this one place names it. Everything else takes ``conf``.
    """
    conf = register(cfg.CONF)
    log.register_options(conf)
    log.set_defaults(default_log_levels=[*log.get_default_log_levels(), 'alembic=WARNING',
                                         'waitress=ERROR'])
    for group, option, value in defaults:
        conf.set_default(option, value, group=group)
    try:
        conf(argv, project='climate', prog=program, version=version.text(),
             default_config_files=files)
        _read_all(conf)
    except cfg.Error as error:
        raise SystemExit(f'{program}: {error}') from error
    return conf


def _read_all(conf):
    """Read every option once: oslo.config looks at a value when somebody wants it.

    :raises cfg.Error: a value is not what its option takes; the message names both.
    """
    for group, options in list_opts():
        section = conf if group == 'DEFAULT' else conf[str(group)]
        for option in options:
            # Of the login only those are there that its auth_type has.
            if option.dest in section:
                section[option.dest]


def list_opts():
    """[(group, options)] of all groups, for the sample configuration."""
    return [pair for module in MODULES for pair in module.list_opts()]
