# SPDX-License-Identifier: Apache-2.0
"""Observe the hosts of a clearing plan in the cloud, and carry out its orders."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import resources
from climate.domain import texts
from climate.domain.clearing import plans
from climate.domain.clearing import steps

LOG = log.getLogger(__name__)

# The orders that enable a host. They are skipped for a host that could not be admitted, because
# servers of any project could be scheduled to it.
_ENABLING = (steps.UNFENCE, steps.TOGGLE)
# The states of a host whose servers may be moved.
_LEAVING = (plans.FENCING, plans.FENCED)
# Expected errors. The next step observes the cloud again and decides by the result.
_DELAYS = (errors.StillBusy, errors.TargetGone, errors.ResourceNotFound, errors.ResourceInUse)


class Executor:
    """Observes the cloud and carries out orders.

    Every order can be repeated, because a manager may crash before it stores the result.
    """

    def __init__(self, core):
        self._core = core
        self._by_kind = {
            steps.FENCE: self._fence, steps.UNFENCE: self._unfence, steps.TOGGLE: self._toggle,
            steps.MOVE: self._move, steps.CONFIRM: self._confirm, steps.ADMIT: self._admit,
            steps.DISMISS: self._dismiss,
        }

    def observe(self, plan, now):
        """Return the ObservedState of the hosts of a plan that are not in a final state."""
        hosts = [host for host in plan.hosts if host.state not in plans.SETTLED]
        if not hosts:
            return steps.ObservedState(now, {}, {}, {})
        cloud, pool = self._core.cloud, self._pool
        states = pool.states(cloud)
        servers = {each.id: each for each in pool.servers_on(
            cloud, [host.service_host for host in hosts])}
        moves = [move for host in hosts for move in host.moves if move.state == plans.MOVING
                 or (move.state == plans.PLANNED and host.state in _LEAVING)]
        for move in moves:
            if move.server_id not in servers:
                server = pool.server(cloud, move.server_id)
                if server is not None:
                    servers[server.id] = server
        idle = [move for move in moves if _is_idle_on_source(servers.get(move.server_id), move)]
        checked = [move for move in moves if move.state == plans.MOVING and (
            move in idle or _is_to_be_confirmed(servers.get(move.server_id)))]
        checked += [move for move in idle if move.state == plans.PLANNED][
            :self._core.conf.acquire.parallel_moves]
        last_moves = {move.server_id: pool.last_migration(cloud, move.server_id)
                      for move in checked}
        return steps.ObservedState(now, states, servers, last_moves, pool.barred(
            cloud, _enabled_again(hosts, states)))

    def carry_out(self, plan, orders):
        """Carry out orders and enter their results in the ClearingPlan.

        A failed order does not stop other orders.

        :returns: (the ClearingPlan, the first unexpected error or None).
        """
        by_name = {host.name: host for host in plan.hosts}
        not_admitted, failures = set(), []
        for order in orders:
            host = by_name[order.host.name]
            if host.name in not_admitted and order.kind in _ENABLING:
                continue
            if host.state in (plans.DROPPED, plans.RELEASED) and order.kind in (
                    steps.FENCE, steps.ADMIT, steps.MOVE):
                continue
            try:
                by_name[host.name] = self._by_kind[order.kind](host, order)
            except errors.ClimateError as error:
                if not isinstance(error, _DELAYS):
                    failures.append(error)
                LOG.info('Host %s: %s is postponed: %s', host.name, order.kind, error.message)
                if order.kind == steps.ADMIT:
                    not_admitted.add(host.name)
        hosts = tuple(by_name[host.name] for host in plan.hosts)
        return dataclasses.replace(plan, hosts=hosts), next(iter(failures), None)

    def refuse_unsettled(self, plan):
        """Refuse a ClearingPlan with hosts that are not returned yet.

        :raises StillBusy: hosts are being returned; the error has their number.
        """
        count = sum(host.state not in plans.SETTLED for host in plan.hosts)
        if count:
            # No time limit applies, because the hosts of others must be returned in any case.
            raise errors.StillBusy.plain(self._pool.cleared_by, texts.counted(
                count, 'host is being returned.', 'hosts are being returned.'), has_own_limit=True)

    def _fence(self, host, order):
        if not self._pool.disable(self._core.cloud, host.service_host, order.fence):
            return host
        # From now on, a host that somebody enables counts as reclaimed.
        return dataclasses.replace(host, state=plans.FENCED)

    def _unfence(self, host, order):
        self._pool.enable(self._core.cloud, host.service_host, order.fence)
        return host

    def _toggle(self, host, order):
        if self._pool.disable(self._core.cloud, host.service_host, order.fence):
            self._pool.enable(self._core.cloud, host.service_host, order.fence)
        return host

    def _move(self, host, order):
        try:
            self._pool.migrate(self._core.cloud, order.server_id, order.target)
        except (errors.CloudUnreachable, errors.StillBusy):
            raise
        except errors.CloudError as error:
            LOG.warning('Host %s: server %s cannot be moved to %s: %s', host.name,
                        order.server_id, order.target, error.message)
            return dataclasses.replace(host, moves=tuple(
                dataclasses.replace(move, state=plans.STUCK)
                if move.server_id == order.server_id else move for move in host.moves))
        return host

    def _confirm(self, host, order):
        self._pool.confirm_migration(self._core.cloud, order.server_id)
        return host

    def _admit(self, host, order):
        cloud, pool = self._core.cloud, self._pool
        pool.admit(cloud, pool.discover(cloud, host.name))
        return dataclasses.replace(host, admitted=True)

    def _dismiss(self, host, order):
        with self._core.database.reader() as connection:
            enrolled = resources.find(connection, self._pool.name, ids=[host.resource_id])
        for resource in enrolled:
            self._pool.dismiss(self._core.cloud, resource)
        return dataclasses.replace(host, resource_id=None)

    @property
    def _pool(self):
        return self._core.registry.clearable_pool()


def _enabled_again(hosts, states):
    """Return {name: service host} of the hosts that were disabled, but are enabled now."""
    return {host.name: host.service_host for host in hosts
            if host.state in (plans.ENROLLING, plans.DROPPED)
            and host.service_host in states and states[host.service_host].enabled}


def _is_idle_on_source(server, move):
    """Return True if a server is still on the host that it must leave, and has no task."""
    return server is not None and server.host == move.source and server.task is None


def _is_to_be_confirmed(server):
    return (server is not None and server.status == steps.MOVED_WHILE_STOPPED
            and server.task is None)
