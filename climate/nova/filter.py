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

from climate.nova import options
from climate.nova import question
from climate.nova import rules
from climate.nova import sizes

LOG = log.getLogger(__name__)

_HINT = 'reservation'
# A request that boots several leased servers names the reservations of all; see boots.MOST_SERVERS.
_MOST_RESERVATIONS = 100
# Each costs a question: after so many there is no further one if a host is open.
_BATCH = 10


class ClimateFilter(filters.BaseHostFilter):
    """Lets a server onto a fenced host only with a reservation that its project may use."""

    # The decision is the same for all servers of a request.
    run_filter_once_per_request = True

    def __init__(self):
        super().__init__()
        # Nova makes its filters itself and hands nothing in.
        conf = nova.conf.CONF
        options.register(conf)
        self._names = options.names(conf)
        self._climate = _climate(conf)

    def filter_all(self, filter_obj_list, spec_obj):
        """The hosts that may take the request, as a list."""
        hosts = list(filter_obj_list)
        # A rebuild stays where it is; a refusal would leave the server in ERROR.
        if not hosts or utils.request_is_rebuild(spec_obj):
            return hosts
        wish = _wish(spec_obj)
        try:
            passed, refused = self._sorted(hosts, wish)
            if not passed and _demands_host(spec_obj):
                passed = self._by_server(hosts, wish)
        except _Refused as error:
            passed, refused = [], {str(error): len(hosts)}
        if wish.reservations is not None and not passed:
            LOG.info('Request with the %s reservation=%s of project %s has no host: %s',
                     'flavor of' if wish.by_flavor else 'hint',
                     ','.join(wish.reservations[:_BATCH]), wish.project_id,
                     ', '.join(f'{count} {reason}' for reason, count in refused.items()))
        return passed

    def host_passes(self, host_state, spec_obj):
        """Whether this one host may take the request."""
        return bool(self.filter_all([host_state], spec_obj))

    def _sorted(self, hosts, wish):
        """(the hosts that pass, {reason: how many it refuses})."""
        if wish.reservations is None or self._climate is None:
            return _judged(hosts, rules.Judge(wish, self._names))
        for answers, some_kept in self._answers(wish):
            judge = rules.Judge(wish, self._names, answers)
            passed, refused = _judged(hosts, judge)
            is_old = some_kept and (judge.doubtful or not passed)
            if passed:
                break
        if is_old:
            # The aggregates contradict an answer that is not of this moment, or it leaves no host,
            # and the reservation may have got one since.
            judge = rules.Judge(wish, self._names, self._answers_of_now(wish, answers))
            passed, refused = _judged(hosts, judge)
        return passed, refused

    def _answers(self, wish):
        """Yield ({reservation id: Answer}, whether one of them was kept), each time with more."""
        named = wish.reservations
        if len(named) > _MOST_RESERVATIONS:
            raise _Refused(f'because it names more than {_MOST_RESERVATIONS} reservations')
        answers, some_kept = {}, False
        with _refusing():
            if len(named) > _BATCH and wish.server_id is not None:
                # It was booted together with others; one of the reservations may be its own.
                answers = self._of_server(wish)
                if answers:
                    yield answers, False
            for first in range(0, len(named) or 1, _BATCH):
                some_kept |= self._ask(named[first:first + _BATCH], wish, answers)
                yield answers, some_kept
            if any(answer.ordinary for answer in answers.values()):
                # As if it had no hint: then its flavor counts.
                some_kept |= self._ask(wish.of_flavor, wish, answers)
                yield answers, some_kept

    def _ask(self, reservations, wish, answers):
        """Put what Climate says of them into `answers`; whether one of them was kept."""
        some_kept = False
        for each in reservations:
            answer, kept = self._climate.ask(each, wish.project_id)
            answers[each] = _counting(answer, wish)
            some_kept |= kept
        return some_kept

    def _answers_of_now(self, wish, answers):
        with _refusing():
            return {each: _counting(self._climate.ask_anew(each, wish.project_id), wish)
                    for each in answers}

    def _by_server(self, hosts, wish):
        """The hosts that pass for a server that was leased after its boot, without a hint."""
        if self._climate is None or wish.server_id is None:
            return []
        with _refusing():
            answers = self._of_server(wish)
        own = dataclasses.replace(wish, reservations=list(answers), by_flavor=False)
        return _judged(hosts, rules.Judge(own, self._names, answers))[0]

    def _of_server(self, wish):
        """{reservation id: Answer} of the reservation that leases the server, if one does."""
        found = self._climate.ask_server(wish.server_id, wish.project_id)
        return {} if found is None else dict([found])


class _Refused(Exception):
    """The request is refused on all hosts; the text says why."""


@contextlib.contextmanager
def _refusing():
    """Without an answer of Climate the request is refused."""
    try:
        yield
    except question.Unreachable as error:
        raise _Refused(f'because Climate cannot be asked ({error})') from error


def _climate(conf):
    """The Climate to ask, or None where aggregates alone decide."""
    adapter = options.adapter(conf) if conf.climate.ask_climate else None
    if adapter is None:
        LOG.warning('ClimateFilter decides by aggregates alone: %s in [climate]',
                    'there is no auth_type' if conf.climate.ask_climate
                    else 'ask_climate is false')
        return None
    return question.Climate(adapter, conf.climate.cache_seconds)


def _counting(answer, wish):
    """The Answer as it counts for a server, which may have outlived its reservation."""
    if wish.exists and answer is question.UNKNOWN:
        # Nothing boots with such a hint, so its lease was purged: it is an ordinary server now.
        return dataclasses.replace(answer, ordinary=True)
    return answer


def _judged(hosts, judge):
    refusals = judge.refusals([(host.host, host.aggregates) for host in hosts])
    passed = [host for host, reason in zip(hosts, refusals, strict=True) if reason is None]
    return passed, collections.Counter(reason for reason in refusals if reason is not None)


def _wish(spec_obj):
    hinted = rules.hinted(spec_obj.get_scheduler_hint(_HINT))
    of_flavor = _of_flavor(spec_obj.flavor)
    server = {'server_id': _set(spec_obj, 'instance_uuid'), 'exists': _exists(spec_obj),
              'size': sizes.of(spec_obj.flavor)}
    if hinted is None:
        return rules.Wish(of_flavor, spec_obj.project_id, of_flavor is not None, **server)
    return rules.Wish(hinted, spec_obj.project_id, of_flavor=tuple(of_flavor or ()), **server)


def _of_flavor(flavor):
    if not flavor:
        return None
    return rules.hinted((_set(flavor, 'extra_specs') or {}).get(rules.FLAVOR_KEY))


def _demands_host(spec_obj):
    """Whether the server is to go to one host, as when it is unshelved or migrated to it."""
    return _of_destination(spec_obj, 'host') is not None


def _exists(spec_obj):
    """Whether the server is moved or woken: only then Nova says in which cell it is."""
    return _of_destination(spec_obj, 'cell') is not None


def _of_destination(spec_obj, name):
    destination = _set(spec_obj, 'requested_destination')
    return None if destination is None else _set(destination, name)


def _set(thing, name):
    """A field of one of Nova's objects; None where it is not set."""
    return getattr(thing, name) if thing.obj_attr_is_set(name) else None
