# SPDX-License-Identifier: Apache-2.0
"""The use case of utilisation: how full each pool was and will be, by steps of time."""
from climate import errors
from climate.db import usage_days
from climate.domain import usage_figures
from climate.domain import utilisation
from climate.manager.usage import counts


class Utilisation:
    """Reports utilisation: closed days from their hours, all other hours from the rows."""

    def __init__(self, core):
        self._core = core

    def report(self, query):
        """Return the Answer to a ``utilisation.Query``.

        :raises BadField: no pool has that name.
        """
        pools = self._core.registry.pools
        if query.pool is not None and query.pool not in pools:
            raise errors.BadField(field='pool', reason=(
                f'"{query.pool[:40]}" is not an enabled pool; those are '
                f'{", ".join(sorted(pools))}.'))
        now = self._core.clock()
        start, end = (usage_figures.second(each) for each in (query.start, query.end))
        with self._core.database.reader() as connection:
            # Read before the rows: a day that is closed meanwhile is counted from its rows.
            closed = min(max(usage_days.closed_until(connection) or start, start), end)
            hours = []
            if start < closed:
                hours += usage_days.hours(connection, start, closed, query.pool)
            if closed < end:
                hours += counts.hours(connection, closed, end, now, query.pool)
        return utilisation.Answer(query.start, query.end, query.step_seconds, now, tuple(
            utilisation.summed(hours, start, query.step_seconds)))
