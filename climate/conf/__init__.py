# SPDX-License-Identifier: Apache-2.0
"""The options of Climate, one module for each group."""
from oslo_cache import core as cache
from oslo_config import cfg
from oslo_db import options as database
from oslo_log import log
from oslo_middleware import cors
from oslo_service import opts as service

from climate import errors
from climate import version
from climate.conf import acquire
from climate.conf import api
from climate.conf import billing
from climate.conf import checking
from climate.conf import cloud
from climate.conf import command_line
from climate.conf import console
from climate.conf import energy
from climate.conf import enforcement
from climate.conf import forecast
from climate.conf import health
from climate.conf import idle
from climate.conf import limits
from climate.conf import mail
from climate.conf import manager
from climate.conf import notifications
from climate.conf import series
from climate.conf import services
from climate.conf import shares
from climate.conf import webhook

LOG = log.getLogger(__name__)

#: The options of [DEFAULT], which the API and the manager share.
DEFAULT = [
    cfg.StrOpt('region_name', default='RegionOne',
               help='Region of the cloud that Climate reserves. Its endpoints are used, and the '
                    'criterion $region is compared with it.'),
    cfg.StrOpt('rpc_topic', default='climate.manager', regex=r'\S',
               help='Topic of the RPC calls from the API to the managers.'),
    cfg.ListOpt('plugins', default=['physical:host', 'virtual:instance', 'flavor:instance'],
                help='Resource types that can be leased. If one is not installed or does not '
                     'load, the daemon names it and stops.'),
]
GROUPS = (
    api.GROUP, manager.GROUP, acquire.GROUP, health.GROUP, idle.GROUP, shares.GROUP, energy.GROUP,
    billing.GROUP,
    enforcement.GROUP,
    limits.GROUP, series.GROUP,
    forecast.GROUP, notifications.GROUP, mail.GROUP, webhook.GROUP, console.GROUP, cloud.GROUP,
    services.KEYSTONE, services.NOVA, services.PLACEMENT, services.GLANCE, cloud.SIMULATED)

# Defaults of libraries are set at the import, so that the sample configuration has them, too.
# The pool has more than the five connections of oslo.db, one for each worker of a manager.
cfg.set_defaults(database.database_opts, max_pool_size=20)
log.set_defaults(default_log_levels=[*log.get_default_log_levels(), 'alembic=WARNING',
                                     'waitress=ERROR'])
# Pages of other origins may send and read these headers of the REST interface.
cors.set_defaults(
    allow_headers=['X-Auth-Token', 'OpenStack-API-Version', 'X-Openstack-Request-Id',
                   'Idempotency-Key', 'If-Match'],
    expose_headers=['OpenStack-API-Version', 'X-Openstack-Request-Id', 'Location', 'Retry-After',
                    'ETag'],
    allow_methods=['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])


def register(conf):
    """Register the options of every group in `conf`; return `conf`."""
    conf.register_opts(DEFAULT)
    for group in GROUPS:
        group.register(conf)
    conf.register_opts(database.database_opts, group='database')
    # [cache]: the sessions of the console.
    cache.configure(conf)
    return conf


def load(argv, program, files=None, defaults=()):
    """Return the configuration of the command line and the files, with logging registered.

    The result is the global ``cfg.CONF``, because oslo.messaging keeps its tracing and metrics
    options there and fails with any other object. Other modules get it as ``conf``.

    :param files: the configuration files to read; None: the files that oslo.config finds.
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
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f'{program}: {checking.unreadable(error)}') from error
    return conf


def set_up_logging(conf):
    """Set up the log of a daemon, and warn of unknown names in its configuration files.

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
    return [('DEFAULT', DEFAULT), *(pair for group in GROUPS for pair in group.list_opts())]
