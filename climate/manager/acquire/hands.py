# SPDX-License-Identifier: Apache-2.0
"""What a hunt sees of the cloud, and does in it."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import resources
from climate.domain import chase
from climate.domain import hunt
from climate.plugins import pools

LOG = log.getLogger(__name__)

# A host that could not be admitted is not opened: anybody could come there.
_OPENING = (chase.UNFENCE, chase.TOGGLE)
# Servers begin to leave hosts in these states.
_LEAVING = (hunt.FENCING, hunt.FENCED)
# What these mean the next look tells.
_DELAYS = (errors.StillBusy, errors.ServerNotFound, errors.HostNotFound, errors.HostInUse)


class Hands:
    """Looks, and carries out orders, each of which may have been carried out before."""

    def __init__(self, core):
        self._core = core
        self._by_kind = {
            chase.FENCE: self._fence, chase.UNFENCE: self._unfence, chase.TOGGLE: self._toggle,
            chase.MOVE: self._move, chase.CONFIRM: self._confirm, chase.ADMIT: self._admit,
            chase.DISMISS: self._dismiss,
        }

    def look(self, plan, now):
        """A chase.Sight of the hosts of a plan that are not settled."""
        services = self._core.cloud.as_service()
        hosts = [host for host in plan.hosts if host.state not in hunt.SETTLED]
        if not hosts:
            return chase.Sight(now, {}, {}, {})
        computes = {each.host: each for each in services.computes.every()}
        servers = {each.id: each for each in services.nova.servers_on(
            [host.service_host for host in hosts])}
        moves = [move for host in hosts for move in host.moves if move.state == hunt.MOVING
                 or (move.state == hunt.PLANNED and host.state in _LEAVING)]
        for move in moves:
            if move.server_id not in servers:
                server = services.servers.server(move.server_id)
                if server is not None:
                    servers[server.id] = server
        standing = [move for move in moves if _stands(servers.get(move.server_id), move)]
        asked = [move for move in moves if move.state == hunt.MOVING and (
            move in standing or _is_to_be_confirmed(servers.get(move.server_id)))]
        asked += [move for move in standing if move.state == hunt.PLANNED][
            :self._core.conf.acquire.parallel_moves]
        last_moves = {move.server_id: services.servers.last_move(move.server_id)
                      for move in asked}
        return chase.Sight(now, computes, servers, last_moves,
                           _barred(services, hosts, computes))

    def carry_out(self, plan, orders):
        """The Plan after the orders were carried out, as far as what they came to is known.

        One that fails does not stop the others.

        :returns: the Plan, and the first error that is more than a delay, or None.
        """
        by_name = {host.name: host for host in plan.hosts}
        not_admitted, failed = set(), []
        for order in orders:
            host = by_name[order.host.name]
            if host.name in not_admitted and order.kind in _OPENING:
                continue
            if host.state in (hunt.DROPPED, hunt.RELEASED) and order.kind in (
                    chase.FENCE, chase.ADMIT, chase.MOVE):
                continue
            try:
                by_name[host.name] = self._by_kind[order.kind](host, order)
            except errors.ClimateError as error:
                if not isinstance(error, _DELAYS):
                    failed.append(error)
                LOG.info('Host %s: %s is put off: %s', host.name, order.kind, error.message)
                if order.kind == chase.ADMIT:
                    not_admitted.add(host.name)
        hosts = tuple(by_name[host.name] for host in plan.hosts)
        return dataclasses.replace(plan, hosts=hosts), next(iter(failed), None)

    @staticmethod
    def refuse_unsettled(plan):
        """Nothing, where nothing is left to be undone.

        :raises StillBusy: with the hosts.
        """
        left = [host.name for host in plan.hosts if host.state not in hunt.SETTLED]
        if left:
            # However long it takes: nothing of others may be left as it is.
            raise errors.StillBusy(has_own_limit=True, service='Nova', reason=(
                f'{len(left)} hosts are being given back.'))

    def _fence(self, host, order):
        if not self._computes.fence(host.service_host, order.fence):
            return host
        # Whoever takes it off from now on wants the host back.
        return dataclasses.replace(host, state=hunt.FENCED)

    def _unfence(self, host, order):
        self._computes.unfence(host.service_host, order.fence)
        return host

    def _toggle(self, host, order):
        if self._computes.fence(host.service_host, order.fence):
            self._computes.unfence(host.service_host, order.fence)
        return host

    def _move(self, host, order):
        try:
            self._core.cloud.as_service().servers.migrate(order.server_id, order.target)
        except (errors.CloudUnreachable, errors.StillBusy):
            raise
        except errors.CloudError as error:
            LOG.warning('Host %s: server %s cannot be moved to %s: %s', host.name,
                        order.server_id, order.target, error.message)
            return dataclasses.replace(host, moves=tuple(
                dataclasses.replace(move, state=hunt.STUCK)
                if move.server_id == order.server_id else move for move in host.moves))
        return host

    def _confirm(self, host, order):
        self._core.cloud.as_service().servers.migrate(order.server_id)
        return host

    def _admit(self, host, order):
        pool = self._core.registry.pool(pools.HostPool.name)
        pool.admit(self._core.cloud, pool.discover(self._core.cloud, host.name))
        return dataclasses.replace(host, admitted=True)

    def _dismiss(self, host, order):
        with self._core.database.reader() as connection:
            found = resources.find(connection, pools.HostPool.name, ids=[host.resource_id])
        for resource in found:
            self._core.registry.pool(pools.HostPool.name).dismiss(self._core.cloud, resource)
        return dataclasses.replace(host, resource_id=None)

    @property
    def _computes(self):
        return self._core.cloud.as_service().computes


def _barred(services, hosts, computes):
    """The service hosts that are open, and to which Placement gives no servers."""
    asked = {host.name: host.service_host for host in hosts
             if host.state in (hunt.ENROLLING, hunt.DROPPED)
             and host.service_host in computes and computes[host.service_host].enabled}
    if not asked:
        return frozenset()
    found = services.placement.survey(list(asked))
    return frozenset(asked[name] for name, (traits, _) in found.items()
                     if services.computes.BARRED in traits)


def _stands(server, move):
    """True for a server that is where it was, and to which nothing is done."""
    return server is not None and server.host == move.source and server.task is None


def _is_to_be_confirmed(server):
    return (server is not None and server.status == chase.MOVED_WHILE_STOPPED
            and server.task is None)
