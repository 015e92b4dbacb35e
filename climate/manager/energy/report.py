# SPDX-License-Identifier: Apache-2.0
"""The energy report: which resources sleep, for how long they slept, and the saved energy."""
from climate import errors
from climate.db import absences
from climate.db import power
from climate.db import resources
from climate.domain import energy
from climate.domain import utilisation
from climate.manager.energy import machines


class EnergyReports:
    """Reports the sleep of enrolled resources."""

    def __init__(self, core):
        self._core = core

    def report(self, query):
        """Return the ``energy.EnergyAnswer`` to an ``energy.EnergyQuery``.

        :raises BadField: no pool whose resources can sleep has that name.
        """
        pools = machines.pools(self._core)
        if query.pool is not None and query.pool not in pools:
            raise errors.BadField(field='pool', reason=(
                f'"{query.pool[:40]}" is not an enabled pool whose resources can sleep; those are '
                f'{", ".join(pools) or "none"}.'))
        end = max(query.start, min(query.end, self._core.clock()))
        with self._core.database.reader() as connection:
            found = [resource for name in pools if query.pool in (None, name)
                     for resource in resources.find(connection, name)]
            states = power.of(connection, [resource.id for resource in found])
            slept = absences.touching(connection, query.start, end)
            shares = machines.shares(self._core, connection)
        return energy.EnergyAnswer(query.start, end, tuple(
            self._line(resource, states[resource.id], slept.get(resource.id, ()), shares,
                       query.start, end) for resource in found))

    def _line(self, resource, state, absent, shares, start, end):
        spans = [(begin, until) for kind, begin, until in absent if kind == utilisation.ASLEEP]
        return energy.Line(
            resource.pool, resource.id, resource.name, state.state, state.since,
            energy.hours(spans, start, end), watts_of(self._core.conf, resource, shares))


def watts_of(conf, resource, shares):
    """Return the watts that a Resource saves while it sleeps; None if unknown.

    :param shares: of ``machines.shares``; [energy] watts is the power of a whole machine.
    """
    return energy.watts(resource.properties, conf.energy.watts_property,
                        conf.energy.watts * shares.get(resource.id, 1))
