# SPDX-License-Identifier: Apache-2.0
"""The scheduler of the simulated Nova: free resources, the filter's rules, the fewest servers."""
import collections
import dataclasses

from climate.cloud import models
from climate.cloud.simulated import aggregates
from climate.cloud.simulated import capacity
from climate.cloud.simulated import hosts
from climate.cloud.simulated import servers
from climate.nova import rules
from climate.nova import scheduler_hints


@dataclasses.dataclass(frozen=True)
class Wanted:
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
    """The scheduler.

    The reservation of a leased server has no aggregate, so the aggregates alone do not tell where
    the server may be placed. The real filter asks Climate, and so does this scheduler if it has
    `answers`. Without them two rules take the place of Climate:

    * A hint of a leased server that names no aggregate is ignored: the server is an ordinary one.
    * An administrator may unshelve an ordinary server to a host of the freepool, because Climate
      holds capacity for it there.

    A server counts as leased if the metadata at its boot says so, or if it exists already and is
    placed again.

    :ivar answers: None, or callable(reservation id, project id) that returns the Answer of Climate,
        or None if it knows no such reservation. It must not call the cloud.
    :param options: rules.Options.
    """

    def __init__(self, options):
        self.answers = None
        self._options = options

    def choose(self, connection, wanted):
        """Return the service host for a server; None if no valid host was found."""
        inside = _aggregates_of_hosts(connection)
        able = [row for row in hosts.every(connection)
                if row['up'] and row['enabled'] and not row['barred']
                and (wanted.hosts is None or row['service_host'] in wanted.hosts)]
        able = capacity.suitable(connection, able, wanted.flavor, wanted.server_id)
        may = self._admitted([(row['service_host'], inside.get(row['service_host'], ()))
                              for row in able], wanted, aggregates.every(connection))
        taken = collections.Counter(server.host for server in servers.every(connection))
        return min(may, key=lambda each: taken[each], default=None)

    def _admitted(self, places, wanted, known):
        """Return the service hosts that the rules of the filter pass."""
        reservations = scheduler_hints.ids(wanted.hints.get(scheduler_hints.RESERVATION))
        by_flavor = (reservations is None and wanted.flavor is not None
                     and rules.FLAVOR_KEY in wanted.flavor.extra_specs)
        answers = None
        if reservations and self.answers is not None:
            answers = {answer.reservation_id or each: answer for each in reservations
                       if (answer := self.answers(each, wanted.project_id)) is not None}
        elif wanted.leased and not {each.name for each in known} & set(reservations or ()):
            reservations = None
        if wanted.service_host is not None and reservations is None:
            places = [(host, [each for each in inside if each.name != self._options.freepool])
                      for host, inside in places]
        request = rules.Request([] if by_flavor else reservations, wanted.project_id, by_flavor,
                                server_id=wanted.server_id,
                                size=wanted.flavor and dict(capacity.units(wanted.flavor)))
        refusals = rules.Judge(request, self._options, answers).refusals(places)
        found = [host for (host, _), refusal in zip(places, refusals, strict=True)
                 if refusal is None]
        if not found and reservations is not None and wanted.service_host is not None:
            # A server may be leased after its boot; its hint then names something else.
            return self._admitted(places, dataclasses.replace(wanted, hints={}), known)
        return found


def _aggregates_of_hosts(connection):
    """Return {service host: its rules.Aggregates}, without hosts that are in no aggregate."""
    found = {}
    for each in aggregates.every(connection):
        for service_host in each.hosts:
            found.setdefault(service_host, []).append(
                rules.Aggregate(each.name, each.zone, each.metadata))
    return found
