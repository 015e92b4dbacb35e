# SPDX-License-Identifier: Apache-2.0
"""The bytes of the requests of one project in the database."""
import sqlalchemy as sa

from climate.db import tables

LEASES = tables.LEASES
OFFERS = tables.OFFERS

_PROJECT = sa.bindparam('project_id')


def _sum(table, *conditions):
    return sa.select(sa.func.coalesce(sa.func.sum(table.c.request_bytes), 0)).where(
        table.c.project_id == _PROJECT, *conditions).scalar_subquery()


# The statement is built once, because each request runs it. It reads only ranges of indexes. One
# sum of leases with OR would read all leases of the project that are over.
_OF_PROJECT = sa.select(
    _sum(LEASES, LEASES.c.ended_at.is_(None))
    + _sum(LEASES, LEASES.c.ended_at > sa.bindparam('since', type_=tables.UtcDateTime))
    + _sum(OFFERS))


def of_project(connection, project_id, since):
    """Return the bytes of the requests of the leases and offers of a project.

    :param since: leases that were over before this moment do not count.
    """
    return int(connection.execute(
        _OF_PROJECT, {'project_id': project_id, 'since': since}).scalar())
