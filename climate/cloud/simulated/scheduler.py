# SPDX-License-Identifier: Apache-2.0
"""Where the simulated Nova places a server: the filter's rules, then room, then the emptiest."""
import collections
import dataclasses

from climate.cloud import models
from climate.cloud.simulated import aggregates
from climate.cloud.simulated import hosts
from climate.cloud.simulated import room
from climate.cloud.simulated import servers
from climate.nova import rules


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A place for a server.

    :ivar hints: its scheduler hints, which Nova keeps with it.
    :ivar flavor: None for one that is of no interest.
    :ivar leased: it is a server that Climate may have leased: see `Scheduler`.
    :ivar service_host: an administrator wakes it on this host; None: anywhere.
    :ivar server_id: where it exists already.
    :ivar hosts: the service hosts that come into question; None: all.
    """

    project_id: str
    hints: dict
    flavor: models.Flavor | None
    leased: bool = False
    service_host: str | None = None
    server_id: str | None = None
    hosts: frozenset | None = None


class Scheduler:
    """Chooses hosts.

    A leased server is in no aggregate of its reservation, so the aggregates alone do not tell
    where it may be placed; the real filter asks Climate. So does this one where it has `answers`.
    Without, this rule stands in for Climate: the hint of a leased server that names no aggregate
    counts for nothing, as if the server were an ordinary one; and where an administrator wakes an
    ordinary server on a host, the host may be in the freepool, for Climate holds room there. Leased
    is what the metadata of a boot say is, and whatever exists already when it is placed anew.

    :ivar answers: None, or callable(reservation id, project id) that returns the Answer of Climate
        or None where it knows no such reservation. It must not call the cloud.
    :param options: rules.Options.
    """

    def __init__(self, options):
        self.answers = None
        self._options = options

    def choose(self, connection, wanted):
        """The service host for a server; None where no valid host was found."""
        inside = _aggregates_of_hosts(connection)
        able = [row for row in hosts.every(connection)
                if row['up'] and row['enabled'] and not row['barred']
                and (wanted.hosts is None or row['service_host'] in wanted.hosts)]
        able = room.suitable(connection, able, wanted.flavor, wanted.server_id)
        may = self._admitted([(row['service_host'], inside.get(row['service_host'], ()))
                              for row in able], wanted, aggregates.every(connection))
        taken = collections.Counter(server.host for server in servers.every(connection))
        return min(may, key=lambda each: taken[each], default=None)

    def _admitted(self, places, wanted, known):
        """The service hosts onto which the rules of the filter let the server."""
        reservations = rules.hinted(wanted.hints.get('reservation'))
        by_flavor = (reservations is None and wanted.flavor is not None
                     and rules.FLAVOR_KEY in wanted.flavor.extra_specs)
        answers = None
        if reservations and self.answers is not None:
            answers = {each: answer for each in reservations
                       if (answer := self.answers(each, wanted.project_id)) is not None}
        elif wanted.leased and not {each.name for each in known} & set(reservations or ()):
            reservations = None
        if wanted.service_host is not None and reservations is None:
            places = [(host, [each for each in inside if each.name != self._options.freepool])
                      for host, inside in places]
        wish = rules.Wish([] if by_flavor else reservations, wanted.project_id, by_flavor,
                          server_id=wanted.server_id,
                          size=wanted.flavor and dict(room.units(wanted.flavor)))
        refusals = rules.Judge(wish, self._options, answers).refusals(places)
        found = [host for (host, _), refusal in zip(places, refusals, strict=True)
                 if refusal is None]
        if not found and reservations is not None and wanted.service_host is not None:
            # What leases a server may have come after its boot, and its hint name something else.
            return self._admitted(places, dataclasses.replace(wanted, hints={}), known)
        return found


def _aggregates_of_hosts(connection):
    """{service host: its aggregates, as the rules want them}; hosts in none are not in it."""
    found = {}
    for each in aggregates.every(connection):
        for service_host in each.hosts:
            found.setdefault(service_host, []).append(
                rules.Aggregate(each.name, each.zone, each.metadata))
    return found
