# SPDX-License-Identifier: Apache-2.0
"""The use case of energy: which resources sleep, how long they slept, and what that saved."""
from climate import errors
from climate.db import absences
from climate.db import power
from climate.db import resources
from climate.domain import energy
from climate.domain import utilisation
from climate.manager.energy import machines


class Report:
    """Reports the sleep of enrolled resources."""

    def __init__(self, core):
        self._core = core

    def report(self, query):
        """Return the ``energy.Answer`` to an ``energy.Query``.

        :raises BadField: no pool whose resources can sleep has that name.
        """
        pools = machines.pools(self._core)
        if query.pool is not None and query.pool not in pools:
            raise errors.BadField(field='pool', reason=(
                f'"{query.pool[:40]}" is not an enabled pool whose resources can sleep; those are '
                f'{", ".join(pools) or "none"}.'))
        end = max(query.start, min(query.end, self._core.clock()))
        with self._core.database.reader() as connection:
            found = [each for name in pools if query.pool in (None, name)
                     for each in resources.find(connection, name)]
            states = power.of(connection, [each.id for each in found])
            slept = absences.touching(connection, query.start, end)
            shares = machines.shares(self._core, connection)
        return energy.Answer(query.start, end, tuple(
            self._line(each, states[each.id], slept.get(each.id, ()), shares, query.start, end)
            for each in found))

    def _line(self, resource, state, absent, shares, start, end):
        spans = [(begin, until) for kind, begin, until in absent if kind == utilisation.ASLEEP]
        return energy.Line(
            resource.pool, resource.id, resource.name, state.state, state.since,
            energy.hours(spans, start, end), watts_of(self._core.conf, resource, shares))


def watts_of(conf, resource, shares):
    """Return how much less a Resource draws asleep than awake; None: that is not known.

    :param shares: what ``machines.shares`` returns: [energy] watts is that of a whole machine.
    """
    return energy.watts(resource.properties, conf.energy.watts_property,
                        conf.energy.watts * shares.get(resource.id, 1))
