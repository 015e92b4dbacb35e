# SPDX-License-Identifier: Apache-2.0
"""Usage of past days, which stays when the leases are purged."""
import sqlalchemy as sa

from climate.db import by_keys
from climate.db import managers
from climate.db import tables
from climate.db import usage_rows
from climate.domain import usage_figures
from climate.domain import utilisation

DAYS = tables.USAGE_DAYS
HOURS = tables.POOL_HOURS
PROPERTIES = tables.PROPERTIES
RESOURCES = tables.RESOURCES
VALUES = tables.PROPERTY_VALUES

_WORK = 'usage'
_AT_ONCE = 2_000
_DAY = usage_figures.DAY_SECONDS
_SUMS = tuple(sa.func.sum(DAYS.c[figure]).label(figure) for figure in usage_figures.FIGURES)
# The columns of a UsageKey, besides amount and reason.
_KEYS = ('day', 'project_id', 'user_id', 'resource_type', 'pool', 'resource_id')


def closed_until(connection):
    """Return the end of the last closed day, in seconds since 1970; None: no day is closed."""
    slot = managers.last_slot(connection, _WORK)
    return None if slot is None else usage_figures.second(slot) + _DAY


def counted_until(connection):
    """Return the moment before which all usage is counted; None: there is nothing to count."""
    until = closed_until(connection)
    return usage_rows.first_moment(connection) if until is None else usage_figures.moment(until)


def close(connection, day, tally, hours):
    """Write the counted usage of a day, once.

    :param day: the first second of the day. All days before it are closed.
    :param tally: {UsageKey: Seconds} of the day.
    :param hours: the PoolSteps of its hours.
    :returns: False if another manager has closed the day; then nothing was written.
    :raises Duplicate: another manager closed the very first day at the same time.
    """
    if not managers.take_slot(connection, _WORK, usage_figures.moment(day)):
        return False
    _insert(connection, DAYS, [
        {**vars(key), **vars(seconds), 'day': usage_figures.moment(key.day)}
        for key, seconds in tally.items()])
    _insert(connection, HOURS, [
        {'hour': usage_figures.moment(step.start), 'pool': step.pool, **step.seconds,
         'units': step.units} for step in hours])
    return True


def sums(connection, start, end, columns, project_id=None):
    """Return [(UsageKey, Seconds)]: the sums of closed days between two beginnings of days.

    :param columns: the fields of a UsageKey by which rows are grouped, besides amount and reason.
        The other fields are None.
    :param project_id: only this project; None: all projects.
    """
    keys = [DAYS.c[name] for name in _KEYS if name in columns] + [DAYS.c.amount, DAYS.c.reason]
    statement = sa.select(*keys, *_SUMS).group_by(*keys).where(
        DAYS.c.day >= usage_figures.moment(start), DAYS.c.day < usage_figures.moment(end))
    if project_id is not None:
        statement = statement.where(DAYS.c.project_id == project_id)
    rows = connection.execute(statement)
    return [(_key(row), usage_figures.Seconds(*(int(row._mapping[figure])
                                                for figure in usage_figures.FIGURES)))
            for row in rows]


def hours(connection, start, end, pool=None):
    """Return the PoolSteps of the hours of closed days between two seconds."""
    statement = sa.select(HOURS).where(
        HOURS.c.hour >= usage_figures.moment(start), HOURS.c.hour < usage_figures.moment(end))
    if pool is not None:
        statement = statement.where(HOURS.c.pool == pool)
    rows = connection.execute(statement.order_by(HOURS.c.pool, HOURS.c.hour))
    return [utilisation.PoolStep(
        row.pool, usage_figures.second(row.hour),
        {figure: row._mapping[figure] for figure in utilisation.FIGURES}, row.units)
        for row in rows]


def properties(connection, names, hidden):
    """Return {name: {resource id: text}} of the properties of all pools that have these names.

    Names of unknown properties are left out.

    :param hidden: whether to include private properties and facts.
    """
    selected = [PROPERTIES.c.name.in_(sorted(names))]
    if not hidden:
        selected += [PROPERTIES.c.private.is_(False), PROPERTIES.c.fact.is_(False)]
    by_name = {}
    for name, resource_id, text in connection.execute(
            sa.select(PROPERTIES.c.name, VALUES.c.resource_id, VALUES.c.text)
            .join_from(PROPERTIES, VALUES, VALUES.c.property_id == PROPERTIES.c.id, isouter=True)
            .where(*selected)):
        values = by_name.setdefault(name, {})
        if resource_id is not None:
            values[resource_id] = text
    return by_name


def resource_names(connection, pools):
    """Return {resource id: name} of all resources of pools, including withdrawn ones."""
    return {row.id: row.name for row in connection.execute(
        sa.select(RESOURCES.c.id, RESOURCES.c.name).where(RESOURCES.c.pool.in_(pools)))}


def _insert(connection, table, rows):
    for batch in by_keys.batches(rows, _AT_ONCE):
        connection.execute(sa.insert(table).inline(), batch)


def _key(row):
    named = dict(row._mapping)
    values = {name: named.get(name) for name in (*_KEYS, 'amount', 'reason')}
    if values['day'] is not None:
        values['day'] = usage_figures.second(values['day'])
    return usage_figures.UsageKey(**values)
