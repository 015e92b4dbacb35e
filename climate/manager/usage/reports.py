# SPDX-License-Identifier: Apache-2.0
"""The reports of usage (by project, user, type, pool, property, day) and of utilisation."""
from climate import errors
from climate.db import usage_days
from climate.domain import usage_figures
from climate.domain import usage_groups
from climate.domain import utilisation
from climate.manager.usage import days

# The greatest number of groups in a report.
_MOST_GROUPS = 5_000
# {word of a query: the field of a Key}
_FIELDS = {'project': 'project_id', 'user': 'user_id', 'type': 'resource_type', 'pool': 'pool',
           'day': 'day'}


def usage(core, query):
    """Return the UsageReport that answers a ``usage_groups.UsageQuery``.

    Closed days are read from their stored sums. Other days are counted from the rows of leases.

    :raises BadField: a property does not exist or is hidden, or the report has too many groups.
    """
    now = core.clock()
    with core.database.reader() as connection:
        properties = _properties(connection, query, core.registry.pools)
        counted = _counted(connection, query, now)
    groups = usage_groups.grouped(counted, query.group_by, properties)
    if len(groups) > _MOST_GROUPS:
        raise errors.BadField(field='group_by', reason=(
            f'the report would have {len(groups)} groups, and the limit is {_MOST_GROUPS}: give '
            'fewer values of group_by, or a shorter period.'))
    [total] = usage_groups.grouped(counted, ()) or [usage_groups.NOTHING]
    return usage_groups.UsageReport(query.start, query.end, now, query.group_by, tuple(groups),
                                    total)


def pool_utilisation(core, query):
    """Return the UtilisationAnswer to a UtilisationQuery: the use of each pool over time.

    :raises BadField: no pool has that name.
    """
    pools = core.registry.pools
    if query.pool is not None and query.pool not in pools:
        raise errors.BadField(field='pool', reason=(
            f'"{query.pool[:40]}" is not an enabled pool; choose from '
            f'{", ".join(sorted(pools))}.'))
    now = core.clock()
    start, end = (usage_figures.second(moment) for moment in (query.start, query.end))
    hours = []
    with core.database.reader() as connection:
        closed = days.closed_part_ends(connection, start, end)
        if start < closed:
            hours += usage_days.hours(connection, start, closed, query.pool)
        if closed < end:
            hours += days.count_hours(connection, closed, end, now, query.pool)
    return utilisation.UtilisationAnswer(query.start, query.end, query.step_seconds, now, tuple(
        utilisation.summed(hours, start, query.step_seconds)))


def _counted(connection, query, now):
    """Return the usage that a query selects, [(Key, Seconds)]."""
    start, end = (usage_figures.second(moment) for moment in (query.start, query.end))
    closed = days.closed_part_ends(connection, start, end)
    columns = {_FIELDS.get(word, 'resource_id') for word in query.group_by}
    counted = []
    if start < closed:
        counted += usage_days.sums(connection, start, closed, columns, query.project_id)
    if closed < end:
        counted += days.count_usage(connection, closed, end, now, query.project_id,
                                    by_day='day' in query.group_by).items()
    return counted


def _properties(connection, query, pools):
    """Return {resource id: {name: text}} of the properties by which a query groups.

    :param pools: {name: Pool}. The value of the property ``Pool.name_fact`` is the resource's name.
    :raises BadField: a property does not exist, or the caller may not see it.
    """
    names = {word.removeprefix(usage_groups.PROPERTY) for word in query.group_by
             if word.startswith(usage_groups.PROPERTY)}
    if not names:
        return {}
    values_of = usage_days.properties(connection, names, query.hidden)
    for name in sorted(names - set(values_of)) if query.hidden else ():
        named_pools = [pool_name for pool_name, pool in pools.items() if pool.name_fact == name]
        if named_pools:
            values_of[name] = usage_days.resource_names(connection, named_pools)
    for name in sorted(names - set(values_of)):
        raise errors.BadField(field='group_by', reason=(
            f'no resource has the property "{name[:80]}"; "climate property list" shows the '
            'properties.'))
    by_resource = {}
    for name, values in values_of.items():
        for resource_id, text in values.items():
            by_resource.setdefault(resource_id, {})[name] = text
    return by_resource
