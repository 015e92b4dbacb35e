# SPDX-License-Identifier: Apache-2.0
"""The export to Blazar: which leases of Climate it gets, and the changes of its rows.

Leases on which Climate has not acted since their import keep the rows that Blazar has. An export
can be repeated: it writes only the differences.
"""
import collections
import dataclasses

import sqlalchemy as sa

from climate.db import by_keys
from climate.db import leases
from climate.db import power
from climate.db import resources
from climate.db import tables
from climate.db.blazar import export_limits
from climate.db.blazar import imported_records
from climate.db.blazar import importing
from climate.db.blazar import lease_rows
from climate.db.blazar import resource_rows
from climate.db.blazar import row_changes
from climate.domain import lifecycle
from climate.domain import sleep

_AT_ONCE = 200


@dataclasses.dataclass(frozen=True)
class Contents:
    """The contents of Climate's database that concern Blazar.

    :ivar changed: the Leases on which Climate has acted, or that it created, by id. Deleted leases
        are included.
    :ivar untouched: {id: (name, project id, state)} of the other leases.
    :ivar resources: the enrolled hosts and addresses, as Resources.
    :ivar withdrawn: the names of the hosts that were withdrawn.
    :ivar asleep: the ids of the resources that sleep, or change their power state.
    :ivar private: {name of a property of hosts: whether only administrators see it}.
    """

    changed: tuple
    untouched: dict
    resources: tuple
    withdrawn: frozenset
    asleep: frozenset
    private: dict


@dataclasses.dataclass(frozen=True)
class Export:
    """The leases to write to Blazar, those to delete there, and the rest.

    :ivar leases: Leases.
    :ivar deleted: ids of leases.
    :ivar problems: ``imported_records.Problem``s.
    :ivar contents: the Contents.
    """

    leases: tuple
    deleted: tuple
    problems: tuple
    contents: Contents

    @property
    def pending(self):
        """Return the Leases that have not started, whose objects Blazar expects in the cloud."""
        return [lease for lease in self.leases if lease.state == lifecycle.PENDING]

    def without(self, problems):
        """Return the Export without some leases.

        :param problems: {id of a lease: its Problem}.
        """
        return dataclasses.replace(
            self, leases=tuple(lease for lease in self.leases if lease.id not in problems),
            problems=(*self.problems, *problems.values()))


def read(database, source):
    """Return the Contents of Climate's database for an export to a ``source.Source``.

    A lease with a status that only a crash of Blazar leaves counts as changed, because Blazar does
    nothing with it any more.
    """
    unstable = {row['id'] for row in source.rows('leases') if row['status'] not in lifecycle.STATES}
    table, history = tables.LEASES, tables.HISTORY
    imported = sa.select(history.c.lease_id).where(history.c.what == importing.IMPORTED)
    with database.reader() as connection:
        rows = connection.execute(sa.select(
            table.c.id, table.c.name, table.c.project_id, table.c.state,
            sa.and_(table.c.generation == 0, table.c.claim_no == 0, table.c.deleted_at.is_(None),
                    table.c.id.in_(imported)).label('untouched')).order_by(table.c.id)).all()
        untouched = {row.id: (row.name, row.project_id, row.state) for row in rows
                     if row.untouched and row.id not in unstable}
        changed = []
        for batch in by_keys.batches([row.id for row in rows if row.id not in untouched], _AT_ONCE):
            changed += leases.mentioned(connection, batch)
        enrolled = [resource for pool in (imported_records.HOST, imported_records.ADDRESS)
                    for resource in resources.find(connection, pool)]
        withdrawn = connection.execute(sa.select(tables.RESOURCES.c.name).where(
            tables.RESOURCES.c.pool == imported_records.HOST)).scalars().all()
        asleep = {each.resource_id for each in power.in_states(connection, sleep.SLEEPING)}
        private = dict(connection.execute(sa.select(
            tables.PROPERTIES.c.name, tables.PROPERTIES.c.private).where(
                tables.PROPERTIES.c.pool == imported_records.HOST,
                tables.PROPERTIES.c.fact.is_(False))).all())
    return Contents(
        tuple(changed), untouched, tuple(enrolled),
        frozenset(withdrawn) - {each.name for each in enrolled}, frozenset(asleep), private)


def choose(contents, source, conf):
    """Return the Export of Contents to a ``source.Source``. Pure."""
    known = {row['id'] for row in source.rows('leases')}
    by_id = {resource.id: resource for resource in contents.resources}
    chosen, deleted, problems = [], [], list(export_limits.names(conf))
    for lease in contents.changed:
        if lease.deleted_at is not None:
            deleted += [lease.id] if lease.id in known else []
            continue
        found = tuple(export_limits.problems(lease, by_id, conf))
        problems += found
        if not any(isinstance(problem, export_limits.LeftOut) for problem in found):
            chosen.append(lease)
    every = {lease.id for lease in contents.changed} | contents.untouched.keys()
    for row in sorted(source.rows('leases'), key=lambda row: row['id']):
        problems += export_limits.unchanged(row, contents.untouched.get(row['id']), every)
    problems += export_limits.hosts(source, contents)
    return Export(tuple(chosen), tuple(deleted), tuple(problems), contents)


def changes(export, source, bindings, now):
    """Return the ``row_changes.RowChange``s of an Export. Pure.

    :param bindings: {reservation id: the binding with the objects that were created for it}.
    """
    found = resource_rows.ResourceRows(source, export.contents.resources, export.contents.private)
    rows = lease_rows.LeaseRows(source, found.blazar_ids, bindings)
    changes_ = row_changes.between(found.present, found.wanted(), now)
    present, wanted = collections.defaultdict(list), collections.defaultdict(list)
    for lease_id in (*export.deleted, *(lease.id for lease in export.leases)):
        _extend(present, rows.present(lease_id))
    for lease in export.leases:
        _extend(wanted, rows.wanted(lease))
    return [*changes_, *row_changes.between(present, wanted, now)]


def _extend(rows, more):
    for table, added in more.items():
        rows[table] += added
