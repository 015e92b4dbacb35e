# SPDX-License-Identifier: Apache-2.0
"""The planning of host clearing: a new plan that keeps as much of the old one as possible."""
import collections
import dataclasses

from climate import errors
from climate import strategies
from climate.domain.clearing import choice
from climate.domain.clearing import plans
from climate.manager.clearing import host_survey

# An error names at most this many hosts, each with the reason why it cannot be cleared.
_MOST_NAMED = 10
_NOT_CLEARED = 'its servers cannot all be moved'
_TARGET = 'servers of other hosts go to it'
_RETURNS = 'it is being returned'
# States of a host, ordered by the cost of giving the host up.
_BY_COST = (plans.PLANNED, plans.FENCING, plans.FENCED, plans.ENROLLING)


@dataclasses.dataclass(frozen=True)
class _Obstacles:
    """The reasons that keep lent hosts from being cleared.

    :ivar reasons: {host name: why it cannot be cleared}.
    :ivar crowded: True if more hosts could be cleared, but not all of them together.
    :ivar own: the ids of the project's own servers that are on lent hosts.
    """

    reasons: dict
    crowded: bool
    own: tuple


class Planner:
    """Makes plans from the present state of the cloud."""

    def __init__(self, core):
        self._core = core
        self._surveyor = host_survey.Surveyor(core)

    def planned(self, lease, plan, wishes, missing, troubled=frozenset()):
        """Return the plans.ClearingPlan by which every reservation gets the hosts that it lacks.

        Hosts that are being cleared stay in the plan, though their servers may get other targets.
        If that is impossible, the troubled hosts are given up first.

        :param missing: {reservation id: the number of hosts that it lacks}.
        :param troubled: names of hosts with servers for which there is no plan.
        :raises NotEnough: no plan is possible; the error has the reasons.
        """
        survey = self._surveyor.survey(lease, plan)
        cost = strategies.load(self._core.conf, plan.strategy).cost
        used = _used(plan, survey)
        for wish in wishes:
            wanted = missing.get(wish.reservation_id, 0)
            if not wanted:
                continue
            others = set(survey.hosts) - used.keys()
            names = self._surveyor.meeting(others, wish.need)
            hosts = [survey.hosts[name] for name in sorted(names)]
            own = [host for host in plan.coming if host.reservation_id == wish.reservation_id]
            enrolling = sum(host.state == plans.ENROLLING for host in own)
            keep = {host.name for host in own
                    if host.state in (plans.FENCING, plans.FENCED) and host.name in names}
            try:
                cleared = _cleared(hosts, survey.free, wanted - enrolling, cost, keep, troubled)
            except choice.Impossible as error:
                reasons = {**survey.out, **used, **error.reasons, **dict.fromkeys(
                    others - names, 'it does not meet the criteria')}
                needed, possible = wish.need.demand.at_least, error.possible
                raise _not_enough(needed, needed - wanted, enrolling + possible, _Obstacles(
                    {name: reasons[name] for name in sorted(reasons) if reasons[name] is not None},
                    len(names) - len(error.reasons) > possible, survey.own)) from error
            plan = _merged(plan, wish.reservation_id, cleared, survey)
            survey = _after(survey, cleared)
            used |= {**dict.fromkeys((move.target for move in cleared.moves), _TARGET),
                     **dict.fromkeys(cleared.hosts)}
        return plan


def lacking(missing, before, after):
    """Return {reservation id: the number of hosts that it lacks}, without those just made ready."""
    ready = {host.name for host in before.hosts if host.state == plans.READY}
    new = collections.Counter(host.reservation_id for host in after.hosts
                              if host.state == plans.READY and host.name not in ready)
    return {key: max(count - new[key], 0) for key, count in missing.items()}


def is_short(plan, missing):
    """Return True if fewer hosts are being made ready than are missing."""
    coming = collections.Counter(host.reservation_id for host in plan.coming)
    return any(coming[key] < count for key, count in missing.items())


def without_excess(plan, missing):
    """Return the Plan without hosts that are being made ready and are not needed any more."""
    surplus = []
    for reservation_id, count in missing.items():
        own = [host for host in plan.coming if host.reservation_id == reservation_id]
        own.sort(key=lambda host: _BY_COST.index(host.state))
        surplus += [host.name for host in own[:max(len(own) - count, 0)]]
    return plan.without(surplus, plans.NOT_WANTED) if surplus else plan


def _used(plan, survey):
    """Return {name of a host that cannot be cleared now: why}; None if it is cleared already."""
    names = {service_host: name for name, service_host in survey.service_hosts.items()}
    used = {names.get(move.target): _TARGET for host in plan.hosts for move in host.moves
            if move.state == plans.MOVING}
    for host in plan.hosts:
        if host.state == plans.DROPPED:
            used[host.name] = _RETURNS
        elif host.state in (plans.ENROLLING, plans.READY):
            used[host.name] = None
        elif host.state in plans.COMING:
            used.pop(host.name, None)
    return used


def _cleared(hosts, free, wanted, cost, keep, troubled):
    """Return the ClearingChoice that keeps most of the hosts whose clearing has begun.

    :raises Impossible: there is no such plan.
    """
    others = [host for host in hosts if host.name not in troubled]
    for able, kept in ((hosts, keep), (others, keep - troubled), (others, frozenset())):
        try:
            return choice.plan(able, free, max(wanted, len(kept)), cost, kept)
        except choice.Impossible:
            continue
    return choice.plan(hosts, free, wanted, cost)


def _merged(plan, reservation_id, cleared, survey):
    """Return the ClearingPlan with the hosts and moves of a ClearingChoice for a reservation."""
    sent = collections.defaultdict(list)
    for move in cleared.moves:
        sent[move.source].append(plans.PlannedMove(
            server_id=move.server_id, source=survey.service_hosts[move.source],
            target=survey.service_hosts[move.target]))
    known = {host.name: host for host in plan.hosts}
    hosts = []
    for host in plan.hosts:
        if host.name in cleared.hosts and host.state == plans.RELEASED:
            # The host is added again at the end, as a new one.
            continue
        if host.reservation_id == reservation_id and host.state in (
                plans.PLANNED, plans.FENCING, plans.FENCED):
            host = (_with_moves(host, sent[host.name]) if host.name in cleared.hosts
                    else host.dropped(_NOT_CLEARED))
        hosts.append(host)
    planned = {host.name for host in hosts}
    for name in cleared.hosts:
        if name not in planned:
            new = plans.PlannedHost(name, survey.service_hosts[name], reservation_id)
            if name in known:
                new = dataclasses.replace(new, moves=known[name].moves)
            hosts.append(_with_moves(new, sent[name]))
    return dataclasses.replace(plan, hosts=tuple(hosts))


def _with_moves(host, new):
    """Return the Host with new Moves for the servers that are on it."""
    before = {move.server_id: move for move in host.moves}
    left = {}
    for move in new:
        known = before.get(move.server_id, move)
        waits = known.state == plans.PLANNED
        left[move.server_id] = dataclasses.replace(
            move, tried=known.tried, busy_since=known.busy_since if waits else None)
    kept = tuple(move for key, move in before.items()
                 if key not in left and move.state not in (plans.PLANNED, plans.STUCK, plans.LEFT))
    return dataclasses.replace(host, moves=(*kept, *left.values()))


def _after(survey, cleared):
    """Return the HostSurvey without the free resources that a ClearingChoice uses."""
    taken = {server.id: server.takes for name in cleared.hosts
             for server in survey.hosts[name].servers}
    free = {name: dict(units) for name, units in survey.free.items() if name not in cleared.hosts}
    for move in cleared.moves:
        for each, units in taken[move.server_id].items():
            if each in free[move.target]:
                free[move.target][each] -= units
    return dataclasses.replace(survey, free=free)


def _not_enough(needed, free, clearable, obstacles):
    """Return the NotEnough of a lease that cannot get all of its hosts.

    :param needed: the number of hosts that the lease needs.
    :param free: the number of hosts that the lease has.
    :param clearable: the number of further hosts that are being cleared or could be cleared.
    """
    parts = [f'{name} ({reason})'
             for name, reason in list(obstacles.reasons.items())[:_MOST_NAMED]]
    if obstacles.crowded:
        parts.append('more together: there is not enough capacity for all of their servers')
    others = (f'Others cannot be: {"; ".join(parts)}.' if parts
              else 'No other host is lent to best effort.')
    return errors.NotEnough(
        f'Hosts wanted: {needed}; free: {free}; can be cleared: {clearable}. {others}',
        owner_message=_owners_sentence(needed, free + clearable, obstacles),
        what='hosts', wanted=needed, free=free + clearable, reasons=obstacles.reasons,
        own_servers=list(obstacles.own[:_MOST_NAMED]))


def _owners_sentence(needed, free, obstacles):
    """Return the message for owners, which names no host and no server of another project."""
    text = (f'Only {free} of {needed} hosts can be allocated, even if hosts are cleared of the '
            'servers of other projects.')
    if obstacles.own:
        text += (' Servers of your own project are not moved; these run on hosts that can be '
                 f'cleared: {", ".join(obstacles.own[:_MOST_NAMED])}. Delete or shelve them, and '
                 'try again.')
    return text
