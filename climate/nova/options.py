# SPDX-License-Identifier: Apache-2.0
"""[climate] in nova.conf: the names that Climate uses, and how it is asked."""
import dataclasses

from keystoneauth1 import exceptions
from keystoneauth1 import loading
from oslo_config import cfg

from climate.nova import rules

GROUP = 'climate'
OPTS = [
    cfg.StrOpt('aggregate_freepool', default=rules.Options.freepool,
               help='Name of the aggregate that holds enrolled hosts nobody has leased; as '
                    '[nova] aggregate_freepool of Climate. Empty: there is none.'),
    cfg.StrOpt('aggregate_owner_key', default=rules.Options.owner_key,
               help='Metadata key under which the aggregate of a reservation names the project '
                    'that may use it; as [nova] aggregate_owner_key of Climate.'),
    cfg.StrOpt('availability_zone_prefix', default=rules.Options.zone_prefix,
               help='Aggregates whose availability zone begins so are those of reservations; '
                    'as [nova] availability_zone_prefix of Climate. Empty: zones are not '
                    'looked at.'),
    cfg.BoolOpt('ask_climate', default=True,
                help='Whether Climate is asked about each request that names a reservation. '
                     'False, or no login here: aggregates alone decide, and a reservation can '
                     'be used until they are taken away.'),
    cfg.FloatOpt('cache_seconds', default=2, min=0,
                 help='How long the answer that a reservation is active is believed, and how '
                      'long Climate is not asked again after it could not be reached. That a '
                      'reservation is not active is never kept. 0: always ask.'),
    cfg.FloatOpt('lease_seconds', default=30, min=1,
                 help='How long nova-api waits until Climate has made the lease of a request to '
                      'boot, in seconds. The request is refused after it. To connect, and for '
                      'other calls, it waits as long as timeout says.'),
    cfg.BoolOpt('default_lease', default=False,
                help='Whether each new server gets a lease, also where the request says nothing '
                     'of one. It starts at once.'),
    cfg.IntOpt('default_lease_days', default=30, min=1, max=36500,
               help='How long such a lease lasts, in days.'),
    cfg.ListOpt('default_lease_exempt_projects', default=[],
                help='Ids of projects, with commas between them, whose servers get no such '
                     'lease.'),
]
TIMEOUT_SECONDS = 5


@dataclasses.dataclass(frozen=True)
class Defaults:
    """The lease of servers for which none is asked.

    :ivar days: how long it lasts; None: they get none.
    :ivar exempt: ids of projects whose servers get none.
    """

    days: int | None
    exempt: frozenset = frozenset()

    def days_for(self, project_id):
        """How long it lasts in a project; None: its servers get none."""
        return None if project_id in self.exempt else self.days


def register(conf):
    """Add the options of [climate] to Nova's `conf`, those of the login too."""
    conf.register_opts(OPTS, group=GROUP)
    conf.register_opts(_connection(), group=GROUP)
    conf.register_opts(_endpoint(), group=GROUP)
    loading.register_auth_conf_options(conf, GROUP)


def names(conf):
    """The rules.Options that `conf` names."""
    return rules.Options(freepool=conf.climate.aggregate_freepool,
                         owner_key=conf.climate.aggregate_owner_key,
                         zone_prefix=conf.climate.availability_zone_prefix)


def defaults(conf):
    """The Defaults that `conf` says."""
    return Defaults(conf.climate.default_lease_days if conf.climate.default_lease else None,
                    frozenset(conf.climate.default_lease_exempt_projects))


def adapter(conf):
    """A keystoneauth Adapter to Climate; None where `conf` has no login for it.

    :raises AuthPluginException: the login cannot be used as it is written.
    """
    login = loading.load_auth_from_conf_options(conf, GROUP)
    return None if login is None else _adapter(conf, login)


def way(conf):
    """A keystoneauth Adapter that finds Climate, for calls that bring a token of their own.

    :raises AuthPluginException: `conf` has no login with which the catalogue can be asked, and
        no address either; or the login cannot be used as it is written.
    """
    login = loading.load_auth_from_conf_options(conf, GROUP)
    if login is None and not conf.climate.endpoint_override:
        raise exceptions.MissingAuthPlugin(
            '[climate] in nova.conf has neither auth_type nor endpoint_override: one of the two '
            'is needed to find Climate.')
    return _adapter(conf, login)


def _adapter(conf, login):
    session = loading.load_session_from_conf_options(conf, GROUP, auth=login)
    return loading.load_adapter_from_conf_options(conf, GROUP, session=session, auth=login)


def _connection():
    found = loading.get_session_conf_options()
    for opt in found:
        if opt.dest == 'timeout':
            opt.default = TIMEOUT_SECONDS
            opt.help = ('Longest wait for Climate, and for Keystone, in seconds. A request that '
                        'names a reservation is refused after it.')
    return found


def _endpoint():
    found = loading.get_adapter_conf_options(include_deprecated=False)
    for opt in found:
        if opt.dest == 'service_type':
            opt.default = 'reservation'
        elif opt.dest == 'valid_interfaces':
            opt.default = ['internal', 'public']
    return found
