# SPDX-License-Identifier: Apache-2.0
"""The options of Climate, one module for each group."""
from oslo_config import cfg
from oslo_db import options as database
from oslo_log import log
from oslo_middleware import cors
from oslo_service import opts as service

from climate import errors
from climate import version
from climate.conf import acquire
from climate.conf import api
from climate.conf import base
from climate.conf import billing
from climate.conf import checking
from climate.conf import cloud
from climate.conf import command_line
from climate.conf import console
from climate.conf import energy
from climate.conf import forecast
from climate.conf import glance
from climate.conf import health
from climate.conf import idle
from climate.conf import keystone
from climate.conf import mail
from climate.conf import manager
from climate.conf import notifications
from climate.conf import nova
from climate.conf import placement
from climate.conf import simulated
from climate.conf import webhook

LOG = log.getLogger(__name__)

MODULES = (base, api, manager, acquire, health, idle, energy, billing, forecast, notifications,
           mail, webhook, console, cloud, keystone, nova, placement, glance, simulated)

# Defaults of libraries are set at the import, so that the sample configuration has them, too.
# A manager needs a connection for each worker, and oslo.db would keep only five open.
cfg.set_defaults(database.database_opts, max_pool_size=20)
log.set_defaults(default_log_levels=[*log.get_default_log_levels(), 'alembic=WARNING',
                                     'waitress=ERROR'])
# Browsers may send and read the headers of the REST interface.
cors.set_defaults(
    allow_headers=['X-Auth-Token', 'OpenStack-API-Version', 'X-Openstack-Request-Id',
                   'Idempotency-Key', 'If-Match'],
    expose_headers=['OpenStack-API-Version', 'X-Openstack-Request-Id', 'Location', 'Retry-After',
                    'ETag'],
    allow_methods=['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])


def register(conf):
    """Register the options of every group in `conf`; return `conf`."""
    for module in MODULES:
        module.register(conf)
    conf.register_opts(database.database_opts, group='database')
    return conf


def load(argv, program, files=None, defaults=()):
    """Return the configuration of the command line and the files, with logging registered.

    oslo.messaging keeps its tracing and metrics options on the global ``cfg.CONF`` and fails with
    any other object. So this is the only place that uses it; everything else takes ``conf``.

    :param files: configuration files to read; None: those that oslo.config finds.
    :param defaults: triples (group, option, value) that replace default values.
    """
    conf = register(cfg.CONF)
    log.register_options(conf)
    # graceful_shutdown_timeout
    service.register_service_opts(conf)
    for group, option, value in defaults:
        conf.set_default(option, value, group=group)
    try:
        conf(command_line.options_first(conf, argv), project='climate', prog=program,
             version=version.text(), default_config_files=files)
        checking.values(conf, list_opts())
    except (cfg.Error, errors.ConfigurationError) as error:
        raise SystemExit(f'{program}: {error}') from error
    return conf


def set_up_logging(conf):
    """Set up the log of a daemon, and warn of what its configuration files misspell.

    :raises ConfigurationError: the log cannot be written, or an option of a library is wrong.
    """
    try:
        log.setup(conf, 'climate')
    except log.LogConfigError as error:
        raise errors.ConfigurationError(f'[DEFAULT] log_config_append: {error}') from error
    except OSError as error:
        raise errors.ConfigurationError(
            f'[DEFAULT] log_dir and log_file: the log cannot be written: {error}. Name a directory '
            'that this user can write.') from error
    for problem in checking.names(conf):
        LOG.warning('The configuration has a name that nothing reads: %s', problem)


def list_opts():
    """Return [(group, options)] of all groups, for the sample configuration."""
    return [pair for module in MODULES for pair in module.list_opts()]
