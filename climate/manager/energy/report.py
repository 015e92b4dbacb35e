# SPDX-License-Identifier: Apache-2.0
"""The energy report: which resources sleep, for how long they slept, and the saved energy."""
from climate import errors
from climate.db import absences
from climate.db import power
from climate.db import resources
from climate.domain import energy
from climate.domain import utilisation
from climate.manager.energy import machines


def energy_report(core, query):
    """Return the ``energy.EnergyAnswer`` to an ``energy.EnergyQuery``.

    :raises BadField: no pool whose resources can sleep has that name.
    """
    pools = machines.pools(core)
    if query.pool is not None and query.pool not in pools:
        raise errors.BadField(field='pool', reason=(
            f'"{query.pool[:40]}" is not an enabled pool whose resources can sleep; such pools '
            f'are {", ".join(pools) or "none"}.'))
    end = max(query.start, min(query.end, core.clock()))
    with core.database.reader() as connection:
        enrolled = [resource for name in pools if query.pool in (None, name)
                    for resource in resources.find(connection, name)]
        states = power.of(connection, [resource.id for resource in enrolled])
        absent = absences.touching(connection, query.start, end)
        shares = machines.shares(core, connection)
    lines = []
    for resource in enrolled:
        spans = [(begin, until) for kind, begin, until in absent.get(resource.id, ())
                 if kind == utilisation.ASLEEP]
        power_now = states[resource.id]
        lines.append(energy.Line(
            resource.pool, resource.id, resource.name, power_now.state, power_now.since,
            energy.hours(spans, query.start, end), watts_of(core.conf, resource, shares)))
    return energy.EnergyAnswer(query.start, end, tuple(lines))


def watts_of(conf, resource, shares):
    """Return the watts that a Resource saves while it sleeps; None if unknown.

    :param shares: {resource id: its share of its machine}, from ``machines.shares``. The option
        [energy] watts is the power of a whole machine.
    """
    return energy.watts(resource.properties, conf.energy.watts_property,
                        conf.energy.watts * shares.get(resource.id, 1))
