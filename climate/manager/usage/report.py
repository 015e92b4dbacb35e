# SPDX-License-Identifier: Apache-2.0
"""The use case of usage: who was allocated, occupied, left idle and was refused how much."""
from climate import errors
from climate.db import usage_days
from climate.domain import usage_figures
from climate.domain import usage_groups
from climate.manager.usage import counts

# How many groups an answer has at most.
_MOST_GROUPS = 5_000
# {word of a query: the part of a Key}
_PARTS = {'project': 'project_id', 'user': 'user_id', 'type': 'resource_type', 'pool': 'pool',
          'day': 'day'}


class Usage:
    """Reports usage: closed days from their sums, all other days from the rows of leases."""

    def __init__(self, core):
        self._core = core

    def report(self, query):
        """Return the Report that answers a ``usage_groups.Query``.

        :raises BadField: a property does not exist or is hidden, or there are too many groups.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            properties = _properties(connection, query, self._core.registry.pools)
            counted = _counted(connection, query, now)
        groups = usage_groups.grouped(counted, query.group_by, properties)
        if len(groups) > _MOST_GROUPS:
            raise errors.BadField(field='group_by', reason=(
                f'there are {len(groups)} groups, of which an answer has at most {_MOST_GROUPS}: '
                'ask for fewer words or a shorter span.'))
        [total] = usage_groups.grouped(counted, ()) or [usage_groups.NOTHING]
        return usage_groups.Report(query.start, query.end, now, query.group_by, tuple(groups),
                                   total)


def _counted(connection, query, now):
    """Return [(Key, Seconds)] of all that the query asks for."""
    start, end = (usage_figures.second(each) for each in (query.start, query.end))
    # Read before the rows: a day that is closed meanwhile is counted from its rows.
    closed = min(max(usage_days.closed_until(connection) or start, start), end)
    columns = {_PARTS.get(word, 'resource_id') for word in query.group_by}
    found = []
    if start < closed:
        found += usage_days.sums(connection, start, closed, columns, query.project_id)
    if closed < end:
        found += counts.usage(connection, closed, end, now, query.project_id,
                              by_day='day' in query.group_by).items()
    return found


def _properties(connection, query, pools):
    """Return {resource id: {name: text}} of the properties by which a query groups.

    :param pools: {name: Pool}. The names of their resources are facts, too.
    :raises BadField: one does not exist, or the caller may not know it.
    """
    names = {word.removeprefix(usage_groups.PROPERTY) for word in query.group_by
             if word.startswith(usage_groups.PROPERTY)}
    if not names:
        return {}
    known = usage_days.properties(connection, names, query.hidden)
    for name in sorted(names - set(known)) if query.hidden else ():
        named = [each for each, pool in pools.items() if pool.name_fact == name]
        if named:
            known[name] = usage_days.resource_names(connection, named)
    for name in sorted(names - set(known)):
        raise errors.BadField(field='group_by', reason=(
            f'no resource has the property "{name[:80]}"; "climate property list" has their '
            'names.'))
    found = {}
    for name, values in known.items():
        for resource_id, text in values.items():
            found.setdefault(resource_id, {})[name] = text
    return found
