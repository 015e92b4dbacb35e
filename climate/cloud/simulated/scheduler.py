# SPDX-License-Identifier: Apache-2.0
"""The scheduler of the simulated Nova: free resources, the filter's rules, the fewest servers."""
import collections
import dataclasses

from climate.cloud import models
from climate.cloud.simulated import aggregates
from climate.cloud.simulated import capacity
from climate.cloud.simulated import hosts
from climate.cloud.simulated import server_rows
from climate.nova import host_rules
from climate.nova import scheduler_hints


@dataclasses.dataclass(frozen=True)
class HostRequest:
    """A request for a host for one server.

    :ivar hints: its scheduler hints, which Nova stores with it.
    :ivar flavor: its Flavor; None: it takes no resources.
    :ivar leased: whether Climate may lease the server: see `Scheduler`.
    :ivar service_host: the host to which an administrator unshelves it; None: any.
    :ivar server_id: the id of a server that exists already, or None.
    :ivar hosts: the service hosts to choose from; None: all.
    """

    project_id: str
    hints: dict
    flavor: models.Flavor | None
    leased: bool = False
    service_host: str | None = None
    server_id: str | None = None
    hosts: frozenset | None = None


class Scheduler:
    """Chooses hosts as Nova's scheduler does with Climate's filter.

    The reservation of a leased server has no aggregate, so the aggregates alone do not show where
    the server may be placed. The real filter asks Climate, and so does this scheduler if it has
    `answers`. Without them two rules replace Climate:

    * If the hint of a leased server names no aggregate, the hint is ignored, and the server counts
      as an ordinary one.
    * An administrator may unshelve an ordinary server to a host of the freepool, because Climate
      holds capacity for it there.

    A server counts as leased if the metadata at its boot says so, or if it exists already and is
    placed again.

    :ivar answers: None, or callable(reservation id, project id) that returns the
        ReservationAnswer of Climate, or None if it knows no such reservation. It must not call the
        cloud.
    :param names: the AggregateNames.
    """

    def __init__(self, names):
        self.answers = None
        self._names = names

    def choose(self, connection, request):
        """Return the service host for a server; None if no valid host was found."""
        by_host = _aggregates_of_hosts(connection)
        rows = [row for row in hosts.every(connection)
                if row['up'] and row['enabled'] and not row['barred']
                and (request.hosts is None or row['service_host'] in request.hosts)]
        rows = capacity.suitable(connection, rows, request.flavor, request.server_id)
        passed = self._passed([(row['service_host'], by_host.get(row['service_host'], ()))
                               for row in rows], request, aggregates.every(connection))
        counts = collections.Counter(server.host for server in server_rows.every(connection))
        return min(passed, key=lambda host: counts[host], default=None)

    def _passed(self, places, request, known):
        """Return the service hosts that the rules of the filter pass."""
        reservations = scheduler_hints.ids(request.hints.get(scheduler_hints.RESERVATION))
        by_flavor = (reservations is None and request.flavor is not None
                     and host_rules.FLAVOR_KEY in request.flavor.extra_specs)
        answers = None
        if reservations and self.answers is not None:
            answers = {answer.reservation_id or named: answer for named in reservations
                       if (answer := self.answers(named, request.project_id)) is not None}
        elif request.leased and not {aggregate.name for aggregate in known} & set(
                reservations or ()):
            reservations = None
        if request.service_host is not None and reservations is None:
            places = [(host, [aggregate for aggregate in around
                              if aggregate.name != self._names.freepool])
                      for host, around in places]
        refusals = host_rules.HostRules(host_rules.PlacementRequest(
            [] if by_flavor else reservations, request.project_id, by_flavor,
            server_id=request.server_id,
            size=request.flavor and dict(capacity.units(request.flavor))),
            self._names, answers).refusals(places)
        passed = [host for (host, _), refusal in zip(places, refusals, strict=True)
                  if refusal is None]
        if not passed and reservations is not None and request.service_host is not None:
            # A server may have been leased after its boot. Then its hint names something else.
            return self._passed(places, dataclasses.replace(request, hints={}), known)
        return passed


def _aggregates_of_hosts(connection):
    """Return {service host: its NovaAggregates}, without hosts that are in no aggregate."""
    by_host = {}
    for aggregate in aggregates.every(connection):
        for service_host in aggregate.hosts:
            by_host.setdefault(service_host, []).append(
                host_rules.NovaAggregate(aggregate.name, aggregate.zone, aggregate.metadata))
    return by_host
