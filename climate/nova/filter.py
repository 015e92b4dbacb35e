# SPDX-License-Identifier: Apache-2.0
"""The scheduler filter that keeps reserved hosts for the servers of their reservations.

It runs inside nova-scheduler::

    [filter_scheduler]
    available_filters = nova.scheduler.filters.all_filters
    available_filters = climate.nova.filter.ClimateFilter
    enabled_filters = …,ClimateFilter
"""
import collections

import nova.conf
from nova.scheduler import filters
from nova.scheduler import utils
from oslo_config import cfg
from oslo_log import log

from climate.nova import rules

LOG = log.getLogger(__name__)

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
]
_HINT = 'reservation'


class ClimateFilter(filters.BaseHostFilter):
    """Lets a server onto a fenced host only with a reservation that its project may use."""

    # The decision is the same for all servers of a request.
    run_filter_once_per_request = True

    def __init__(self):
        super().__init__()
        # Nova makes its filters itself and hands nothing in.
        conf = nova.conf.CONF
        conf.register_opts(OPTS, group='climate')
        self._options = rules.Options(
            freepool=conf.climate.aggregate_freepool,
            owner_key=conf.climate.aggregate_owner_key,
            zone_prefix=conf.climate.availability_zone_prefix)

    def filter_all(self, filter_obj_list, spec_obj):
        """The hosts that may take the request, as a list."""
        hosts = list(filter_obj_list)
        if utils.request_is_rebuild(spec_obj):
            # The server stays where it is; a refusal would leave it in ERROR.
            return hosts
        passed, refused = [], collections.Counter()
        for host in hosts:
            reason = self._refusal(host, spec_obj)
            if reason is None:
                passed.append(host)
            else:
                refused[reason] += 1
        self._report(spec_obj, passed, refused)
        return passed

    def host_passes(self, host_state, spec_obj):
        """Whether this one host may take the request."""
        return self._refusal(host_state, spec_obj) is None

    def _refusal(self, host_state, spec_obj):
        aggregates = [
            rules.Aggregate(each.name, each.availability_zone, each.metadata)
            for each in host_state.aggregates]
        return rules.refusal(_reservations(spec_obj), spec_obj.project_id, aggregates,
                             self._options, _flavor_reserved(spec_obj))

    @staticmethod
    def _report(spec_obj, passed, refused):
        reservations = _reservations(spec_obj)
        if reservations is None or passed:
            return
        LOG.info('Request with the hint reservation=%s of project %s has no host: %s',
                 ','.join(reservations), spec_obj.project_id,
                 ', '.join(f'{count} {reason}' for reason, count in refused.items())
                 or 'other filters left none')


def _reservations(spec_obj):
    return rules.hinted(spec_obj.get_scheduler_hint(_HINT))


def _flavor_reserved(spec_obj):
    flavor = spec_obj.flavor
    if not flavor or not flavor.obj_attr_is_set('extra_specs'):
        return False
    return rules.FLAVOR_KEY in (flavor.extra_specs or {})
