# SPDX-License-Identifier: Apache-2.0
"""The bytes of the requests of leases and offers, for a limit of each project."""
from alembic import op
import sqlalchemy as sa

revision = '0035'
down_revision = '0034'

# As the release of this migration counts them.
_RESERVATION_BYTES = 1024
_EVENT_BYTES = 256
_LEASES = sa.table('leases', sa.column('id'), sa.column('ended_at'), sa.column('deleted_at'),
                   sa.column('request_bytes'))
_RESERVATIONS = sa.table('reservations', sa.column('lease_id'), sa.column('request'),
                         sa.column('secrets'))
_EVENTS = sa.table('events', sa.column('lease_id'))
_OFFERS = sa.table('offers', sa.column('request'), sa.column('secrets'),
                   sa.column('request_bytes'))


def upgrade():
    for name in ('leases', 'offers'):
        op.add_column(name, sa.Column('request_bytes', sa.BigInteger, nullable=False,
                                      server_default=sa.text('0')))
    op.create_index('ix_leases_project_id_ended_at_request_bytes', 'leases',
                    ['project_id', 'ended_at', 'request_bytes'])
    op.create_index('ix_offers_project_id_request_bytes', 'offers',
                    ['project_id', 'request_bytes'])
    of_lease = _RESERVATIONS.c.lease_id == _LEASES.c.id
    requests = sa.select(sa.func.sum(
        _RESERVATION_BYTES + _length(_RESERVATIONS.c.request) + _length(_RESERVATIONS.c.secrets))
    ).where(of_lease).scalar_subquery()
    events = sa.select(sa.func.count() * _EVENT_BYTES).select_from(_EVENTS).where(
        _EVENTS.c.lease_id == _LEASES.c.id).scalar_subquery()
    # Leases that are over do not count.
    op.execute(sa.update(_LEASES)
               .where(_LEASES.c.ended_at.is_(None), _LEASES.c.deleted_at.is_(None))
               .values(request_bytes=sa.func.coalesce(requests, 0) + events))
    op.execute(sa.update(_OFFERS).values(
        request_bytes=_length(_OFFERS.c.request) + _length(_OFFERS.c.secrets)))


def _length(column):
    return sa.func.coalesce(sa.func.length(sa.cast(column, sa.Text)), 0)
