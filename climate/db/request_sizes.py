# SPDX-License-Identifier: Apache-2.0
"""The bytes of the requests of one project in the database."""
import sqlalchemy as sa

from climate.db import tables

LEASES = tables.LEASES
OFFERS = tables.OFFERS

_PROJECT = sa.bindparam('project_id')
# Built once because each request runs it. It reads two indexes and no row.
_OF_PROJECT = sa.select(
    sa.select(sa.func.coalesce(sa.func.sum(LEASES.c.request_bytes), 0)).where(
        LEASES.c.project_id == _PROJECT,
        sa.or_(LEASES.c.ended_at.is_(None),
               LEASES.c.ended_at > sa.bindparam('since', type_=tables.UtcDateTime))
    ).scalar_subquery()
    + sa.select(sa.func.coalesce(sa.func.sum(OFFERS.c.request_bytes), 0)).where(
        OFFERS.c.project_id == _PROJECT).scalar_subquery())


def of_project(connection, project_id, since):
    """Return the bytes of the requests of the leases and offers of a project.

    :param since: leases that were over before this moment do not count.
    """
    return int(connection.execute(
        _OF_PROJECT, {'project_id': project_id, 'since': since}).scalar())
