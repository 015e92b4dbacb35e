# SPDX-License-Identifier: Apache-2.0
"""Plan which hosts to clear for a lease, and to which hosts their servers move.

A new plan keeps as much of the old one as possible.
"""
import collections
import dataclasses

from climate import errors
from climate import strategies
from climate.domain.clearing import choice
from climate.domain.clearing import plans
from climate.manager.clearing import host_survey

# The greatest number of hosts that an error names.
_MOST_NAMED = 10
_NOT_CLEARED = 'its servers cannot all be moved'
_TARGET = 'servers of other hosts go to it'
_RETURNS = 'it is being returned'
# States of a host, ordered by the cost of dropping the host from the plan.
_BY_COST = (plans.PLANNED, plans.FENCING, plans.FENCED, plans.ENROLLING)


class Planner:
    """Makes plans from the present state of the cloud."""

    def __init__(self, core):
        self._core = core
        self._surveyor = host_survey.Surveyor(core)

    def planned(self, lease, plan, wishes, missing, troubled=frozenset()):
        """Return the plans.ClearingPlan by which every reservation gets its missing hosts.

        Hosts that are being cleared stay in the plan, though their servers may get other targets.
        If no such plan is possible, drop the troubled hosts first, then any hosts.

        :param missing: {reservation id: the number of hosts that are missing}.
        :param troubled: names of hosts with servers that have no target.
        :raises NotEnough: no plan is possible; the error has the reasons.
        """
        survey = self._surveyor.survey(lease, plan)
        cost = strategies.load(self._core.conf, plan.strategy).cost
        used = _used(plan, survey)
        for wish in wishes:
            count = missing.get(wish.reservation_id, 0)
            if not count:
                continue
            unused = set(survey.hosts) - used.keys()
            names = self._surveyor.meeting(unused, wish.need)
            hosts = [survey.hosts[name] for name in sorted(names)]
            own = [host for host in plan.coming if host.reservation_id == wish.reservation_id]
            enrolling = sum(host.state == plans.ENROLLING for host in own)
            keep = {host.name for host in own
                    if host.state in (plans.FENCING, plans.FENCED) and host.name in names}
            try:
                cleared = _cleared(hosts, survey.free, count - enrolling, cost, keep, troubled)
            except choice.Impossible as error:
                reasons = {**survey.out, **used, **error.reasons, **dict.fromkeys(
                    unused - names, 'it does not meet the criteria')}
                needed, possible = wish.need.demand.at_least, error.possible
                raise _not_enough(
                    (needed, needed - count, enrolling + possible),
                    {name: reasons[name] for name in sorted(reasons) if reasons[name] is not None},
                    len(names) - len(error.reasons) > possible, survey.own) from error
            plan = _merged(plan, wish.reservation_id, cleared, survey)
            survey = _after(survey, cleared)
            used |= {**dict.fromkeys((move.target for move in cleared.moves), _TARGET),
                     **dict.fromkeys(cleared.hosts)}
        return plan


def still_missing(missing, before, after):
    """Return `missing`, {reservation id: count}, minus the hosts that became ready.

    :param before: the ClearingPlan before the last step; `after` is the one after it.
    """
    ready = {host.name for host in before.hosts if host.state == plans.READY}
    new = collections.Counter(host.reservation_id for host in after.hosts
                              if host.state == plans.READY and host.name not in ready)
    return {key: max(count - new[key], 0) for key, count in missing.items()}


def is_short(plan, missing):
    """Return True if the plan prepares fewer hosts than are missing."""
    coming = collections.Counter(host.reservation_id for host in plan.coming)
    return any(coming[key] < count for key, count in missing.items())


def without_excess(plan, missing):
    """Return the ClearingPlan without hosts that it prepares in addition to the missing ones."""
    surplus = []
    for reservation_id, count in missing.items():
        own = [host for host in plan.coming if host.reservation_id == reservation_id]
        own.sort(key=lambda host: _BY_COST.index(host.state))
        surplus += [host.name for host in own[:max(len(own) - count, 0)]]
    return plan.without(surplus, plans.NOT_WANTED) if surplus else plan


def _used(plan, survey):
    """Return {name of a host that cannot be cleared now: the reason, or None if it is cleared}."""
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


def _cleared(hosts, free, count, cost, keep, troubled):
    """Return the ClearingChoice that keeps as many hosts as possible whose clearing has begun.

    :raises Impossible: the hosts cannot be cleared, even if other hosts are dropped.
    """
    untroubled = [host for host in hosts if host.name not in troubled]
    for able, kept in ((hosts, keep), (untroubled, keep - troubled), (untroubled, frozenset())):
        try:
            return choice.plan(able, free, max(count, len(kept)), cost, kept)
        except choice.Impossible:
            continue
    return choice.plan(hosts, free, count, cost)


def _merged(plan, reservation_id, cleared, survey):
    """Return the ClearingPlan with the hosts and moves of a ClearingChoice for a reservation."""
    moves = collections.defaultdict(list)
    for move in cleared.moves:
        moves[move.source].append(plans.PlannedMove(
            server_id=move.server_id, source=survey.service_hosts[move.source],
            target=survey.service_hosts[move.target]))
    hosts = []
    for host in plan.hosts:
        if host.name in cleared.hosts and host.state == plans.RELEASED:
            # Clear the released host again, as a new host at the end of the plan.
            continue
        if host.reservation_id == reservation_id and host.state in (
                plans.PLANNED, plans.FENCING, plans.FENCED):
            host = (_with_moves(host, moves[host.name]) if host.name in cleared.hosts
                    else host.dropped(_NOT_CLEARED))
        hosts.append(host)
    planned = {host.name for host in hosts}
    earlier_moves = {host.name: host.moves for host in plan.hosts}
    hosts += [_with_moves(plans.PlannedHost(name, survey.service_hosts[name], reservation_id,
                                            moves=earlier_moves.get(name, ())), moves[name])
              for name in cleared.hosts if name not in planned]
    return dataclasses.replace(plan, hosts=tuple(hosts))


def _with_moves(host, moves):
    """Return the PlannedHost with new PlannedMoves for the servers that are on it."""
    before = {move.server_id: move for move in host.moves}
    new = {}
    for move in moves:
        earlier = before.get(move.server_id, move)
        waits = earlier.state == plans.PLANNED
        new[move.server_id] = dataclasses.replace(
            move, tried=earlier.tried, busy_since=earlier.busy_since if waits else None)
    kept = tuple(move for key, move in before.items()
                 if key not in new and move.state not in (plans.PLANNED, plans.STUCK, plans.LEFT))
    return dataclasses.replace(host, moves=(*kept, *new.values()))


def _after(survey, cleared):
    """Return the HostSurvey without the free resources that a ClearingChoice uses."""
    needed = {server.id: server.takes for name in cleared.hosts
              for server in survey.hosts[name].servers}
    free = {name: dict(units) for name, units in survey.free.items() if name not in cleared.hosts}
    for move in cleared.moves:
        for resource_class, units in needed[move.server_id].items():
            if resource_class in free[move.target]:
                free[move.target][resource_class] -= units
    return dataclasses.replace(survey, free=free)


def _not_enough(counts, reasons, is_crowded, own_servers):
    """Return the NotEnough of a lease that cannot get all of its hosts.

    :param counts: the numbers of hosts (that the lease needs, that it has, that can be cleared).
    :param reasons: {host name: the reason why it cannot be cleared}.
    :param is_crowded: True if more hosts could be cleared, but not together.
    :param own_servers: ids of the servers of the lease's project on lent hosts.
    """
    needed, free, clearable = counts
    parts = [f'{name} ({reason})' for name, reason in list(reasons.items())[:_MOST_NAMED]]
    if is_crowded:
        parts.append('more together: there is not enough capacity for all of their servers')
    others = (f'Others cannot be: {"; ".join(parts)}.' if parts
              else 'No other host is lent to best effort.')
    return errors.NotEnough(
        f'Hosts wanted: {needed}; free: {free}; can be cleared: {clearable}. {others}',
        owner_message=_owner_message(needed, free + clearable, own_servers),
        what='hosts', wanted=needed, free=free + clearable, reasons=reasons,
        own_servers=list(own_servers[:_MOST_NAMED]))


def _owner_message(needed, free, own_servers):
    """Return the message for owners, which names no host and no server of another project."""
    text = (f'Only {free} of {needed} hosts can be allocated, even if hosts are cleared of the '
            'servers of other projects.')
    if own_servers:
        text += (' Servers of your own project are not moved; these run on hosts that can be '
                 f'cleared: {", ".join(own_servers[:_MOST_NAMED])}. Delete or shelve them, and '
                 'try again.')
    return text
