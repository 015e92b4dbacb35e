# SPDX-License-Identifier: Apache-2.0
"""The options of [climate] in nova.conf: the names that Climate uses, and how to reach it."""
import dataclasses

from keystoneauth1 import exceptions
from keystoneauth1 import loading
from oslo_config import cfg

from climate.nova import host_rules

GROUP = 'climate'
OPTS = [
    cfg.StrOpt('aggregate_freepool', default=host_rules.AggregateNames.freepool,
               help='Name of the aggregate that holds enrolled hosts which are not leased. '
                    'Must equal [nova] aggregate_freepool of Climate. Empty: there is none.'),
    cfg.StrOpt('aggregate_owner_key', default=host_rules.AggregateNames.owner_key,
               help='Metadata key under which the aggregate of a reservation names the project '
                    'that may use it. Must equal [nova] aggregate_owner_key of Climate.'),
    cfg.StrOpt('availability_zone_prefix', default=host_rules.AggregateNames.zone_prefix,
               help='Prefix of the availability zones of reservations: an aggregate with such a '
                    'zone is that of a reservation. Must equal [nova] availability_zone_prefix '
                    'of Climate. Empty: zones are ignored.'),
    cfg.BoolOpt('ask_climate', default=True,
                help='Whether the filter asks Climate about each request that names a '
                     'reservation. False, or no auth_type in this group: the aggregates alone '
                     'decide, and a reservation can be used until its aggregate is deleted.'),
    cfg.FloatOpt('cache_seconds', default=2, min=0,
                 help='Seconds for which the filter caches the answer that a reservation is '
                      'active, and for which it does not call Climate again after a failed '
                      'call. The answer that a reservation is not active is never cached. '
                      '0: always ask.'),
    cfg.FloatOpt('lease_seconds', default=30, min=1,
                 help='Seconds within which Climate must create the lease of a request to boot; '
                      'after that nova-api refuses the request. The option timeout limits the '
                      'connection and all other calls.'),
    cfg.BoolOpt('default_lease', default=False,
                help='Whether a new server gets a lease if its request does not ask for one. '
                     'The lease starts at once.'),
    cfg.IntOpt('default_lease_days', default=30, min=1, max=36500,
               help='Days that a lease by default_lease lasts.'),
    cfg.ListOpt('default_lease_exempt_projects', default=[],
                help='Comma-separated ids of projects whose servers get no lease by '
                     'default_lease.'),
]
TIMEOUT_SECONDS = 5


@dataclasses.dataclass(frozen=True)
class DefaultLease:
    """The default lease of servers whose request does not ask for one.

    :ivar days: the length of the lease; None: such servers get no lease.
    :ivar exempt: ids of projects whose servers get no default lease.
    """

    days: int | None
    exempt: frozenset = frozenset()

    def days_for(self, project_id):
        """Return the days of the default lease in a project; None: there is none."""
        return None if project_id in self.exempt else self.days


def register(conf):
    """Register the options of [climate], with those of its login, in Nova's `conf`."""
    conf.register_opts(OPTS, group=GROUP)
    conf.register_opts(_connection(), group=GROUP)
    conf.register_opts(_endpoint(), group=GROUP)
    loading.register_auth_conf_options(conf, GROUP)


def names(conf):
    """Return the AggregateNames of `conf`."""
    return host_rules.AggregateNames(freepool=conf.climate.aggregate_freepool,
                                     owner_key=conf.climate.aggregate_owner_key,
                                     zone_prefix=conf.climate.availability_zone_prefix)


def defaults(conf):
    """Return the DefaultLease of `conf`."""
    return DefaultLease(conf.climate.default_lease_days if conf.climate.default_lease else None,
                        frozenset(conf.climate.default_lease_exempt_projects))


def adapter(conf):
    """Return a keystoneauth Adapter for Climate; None if `conf` has no login for it.

    :raises AuthPluginException: the options of the login are wrong.
    """
    login = loading.load_auth_from_conf_options(conf, GROUP)
    return None if login is None else _adapter(conf, login)


def user_adapter(conf):
    """Return a keystoneauth Adapter for Climate, for calls that carry the user's own token.

    :raises AuthPluginException: the options of the login are wrong, or `conf` has neither a login
        for the service catalog nor the address of Climate.
    """
    login = loading.load_auth_from_conf_options(conf, GROUP)
    if login is None and not conf.climate.endpoint_override:
        raise exceptions.MissingAuthPlugin(
            '[climate] in nova.conf has neither auth_type nor endpoint_override: set one of '
            'them, so that Climate can be found.')
    return _adapter(conf, login)


def _adapter(conf, login):
    session = loading.load_session_from_conf_options(conf, GROUP, auth=login)
    return loading.load_adapter_from_conf_options(conf, GROUP, session=session, auth=login)


def _connection():
    opts = loading.get_session_conf_options()
    for opt in opts:
        if opt.dest == 'timeout':
            opt.default = TIMEOUT_SECONDS
            opt.help = ('Seconds to wait for an answer of Climate or Keystone. After that, a '
                        'request that names a reservation is refused.')
    return opts


def _endpoint():
    opts = loading.get_adapter_conf_options(include_deprecated=False)
    for opt in opts:
        if opt.dest == 'service_type':
            opt.default = 'reservation'
        elif opt.dest == 'valid_interfaces':
            opt.default = ['internal', 'public']
    return opts
