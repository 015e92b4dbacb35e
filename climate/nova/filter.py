# SPDX-License-Identifier: Apache-2.0
"""The scheduler filter that keeps reserved hosts for the servers of their reservations.

It runs inside nova-scheduler::

    [filter_scheduler]
    available_filters = nova.scheduler.filters.all_filters
    available_filters = climate.nova.filter.ClimateFilter
    enabled_filters = …,ClimateFilter

    [climate]
    auth_type = password
    …
"""
import collections
import contextlib
import dataclasses

import nova.conf
from nova.scheduler import filters
from nova.scheduler import utils
from oslo_log import log

from climate.nova import host_rules
from climate.nova import options
from climate.nova import reservation_client
from climate.nova import scheduler_hints

LOG = log.getLogger(__name__)

# A request that boots several leased servers names all their reservations; see boots.MOST_SERVERS.
_MOST_RESERVATIONS = 100
# Each reservation costs a call. After each batch, the filter stops if a host has passed.
_BATCH = 10


class ClimateFilter(filters.BaseHostFilter):
    """Passes reserved hosts only to servers with a reservation that their project may use."""

    # The decision is the same for all servers of a request.
    run_filter_once_per_request = True

    def __init__(self):
        super().__init__()
        # Nova creates its filters without arguments.
        conf = nova.conf.CONF
        options.register(conf)
        self._names = options.names(conf)
        self._climate = _climate(conf)

    def filter_all(self, filter_obj_list, spec_obj):
        """Return the list of hosts that may take the request."""
        hosts = list(filter_obj_list)
        # A rebuilt server stays on its host. A refusal would leave it in ERROR.
        if not hosts or utils.request_is_rebuild(spec_obj):
            return hosts
        request = scheduler_hints.read(spec_obj)
        try:
            passed, refused = self._sorted(hosts, request)
            if not passed and scheduler_hints.demands_host(spec_obj):
                passed = self._by_server(hosts, request)
        except _AllHostsRefused as error:
            passed, refused = [], {str(error): len(hosts)}
        if request.reservations is not None and not passed:
            LOG.info('Request with the %s reservation=%s of project %s has no host: %s',
                     'flavor of' if request.by_flavor else 'hint',
                     ','.join(request.reservations[:_BATCH]), request.project_id,
                     ', '.join(f'{count} {reason}' for reason, count in refused.items()))
        return passed

    def host_passes(self, host_state, spec_obj):
        """Return whether this host may take the request."""
        return bool(self.filter_all([host_state], spec_obj))

    def _sorted(self, hosts, request):
        """Return (the hosts that pass, {reason: number of hosts that it refuses})."""
        if request.reservations is None or self._climate is None:
            return _apply(host_rules.HostRules(request, self._names), hosts)
        for answers, any_cached in self._answers(request):
            rules = host_rules.HostRules(request, self._names, answers)
            passed, refused = _apply(rules, hosts)
            is_outdated = any_cached and (rules.doubtful or not passed)
            if passed:
                break
        if is_outdated:
            # A cached answer contradicts the aggregates or refuses all hosts. Query Climate again,
            # because the reservation may have changed since.
            answers = self._uncached_answers(request, answers)
            passed, refused = _apply(host_rules.HostRules(request, self._names, answers), hosts)
        return passed, refused

    def _answers(self, request):
        """Yield ({reservation id: answer}, whether any is cached), each time with more answers."""
        named = request.reservations
        if len(named) > _MOST_RESERVATIONS:
            raise _AllHostsRefused(
                f'because it names more than {_MOST_RESERVATIONS} reservations')
        answers, any_cached = {}, False
        with _refusing():
            if len(named) > _BATCH and request.server_id is not None:
                # Servers that are booted together have the same hint, so first query the
                # reservation of this server.
                answers = self._of_server(request)
                if answers:
                    yield answers, False
            for first in range(0, len(named) or 1, _BATCH):
                any_cached |= self._ask(named[first:first + _BATCH], request, answers)
                yield answers, any_cached
            if any(answer.ordinary for answer in answers.values()):
                # The server is treated as if it had no hint, so its flavor decides.
                any_cached |= self._ask(request.of_flavor, request, answers)
                yield answers, any_cached

    def _ask(self, reservations, request, answers):
        """Add the answers of Climate to `answers`; return whether one was cached."""
        any_cached = False
        for named_id in reservations:
            answer, is_cached = self._climate.ask(named_id, request.project_id)
            # If the request names a lease, the answer is about its only reservation.
            answers[answer.reservation_id or named_id] = _counting(answer, request)
            any_cached |= is_cached
        return any_cached

    def _uncached_answers(self, request, answers):
        with _refusing():
            return {reservation_id: _counting(
                        self._climate.ask_uncached(reservation_id, request.project_id), request)
                    for reservation_id in answers}

    def _by_server(self, hosts, request):
        """Return the hosts that pass for a server without a hint, leased after it was booted."""
        if self._climate is None or request.server_id is None:
            return []
        with _refusing():
            answers = self._of_server(request)
        own = dataclasses.replace(request, reservations=list(answers), by_flavor=False)
        return _apply(host_rules.HostRules(own, self._names, answers), hosts)[0]

    def _of_server(self, request):
        """Return {reservation id: answer} of the server's reservation; {} if it has none."""
        answer = self._climate.ask_server(request.server_id, request.project_id)
        return {} if answer is None else {answer.reservation_id: answer}


class _AllHostsRefused(Exception):
    """The request is refused on all hosts. The text is the reason."""


@contextlib.contextmanager
def _refusing():
    """Refuse the request if Climate gives no answer."""
    try:
        yield
    except reservation_client.NoAnswer as error:
        raise _AllHostsRefused(f'because Climate cannot be asked ({error})') from error


def _climate(conf):
    """Return the ReservationClient, or None if the aggregates alone decide."""
    adapter = options.adapter(conf) if conf.climate.ask_climate else None
    if adapter is None:
        LOG.warning('ClimateFilter decides by aggregates alone: %s in [climate]',
                    'there is no auth_type' if conf.climate.ask_climate
                    else 'ask_climate is false')
        return None
    return reservation_client.ReservationClient(adapter, conf.climate.cache_seconds)


def _counting(answer, request):
    """Return the answer, as an ordinary one if the server has outlived its reservation."""
    if request.exists and answer is reservation_client.UNKNOWN:
        # A server cannot boot with an unknown reservation. So the lease of this server was purged,
        # and the server is an ordinary server now.
        return dataclasses.replace(answer, ordinary=True)
    return answer


def _apply(rules, hosts):
    """Return (the hosts that pass, a Counter of the reasons of the other hosts)."""
    refusals = rules.refusals([(host.host, host.aggregates) for host in hosts])
    passed = [host for host, reason in zip(hosts, refusals, strict=True) if reason is None]
    return passed, collections.Counter(reason for reason in refusals if reason is not None)
