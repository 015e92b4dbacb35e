# SPDX-License-Identifier: Apache-2.0
"""The tables of the state that managers share."""
import sqlalchemy as sa

from climate.db.tables import base

MANAGERS = sa.Table(
    'managers', base.METADATA,
    sa.Column('id', base.text(255), primary_key=True),
    sa.Column('host', base.text(255), nullable=False),
    sa.Column('since', base.UtcDateTime, nullable=False),
    sa.Column('last_seen', base.UtcDateTime, nullable=False),
    sa.Column('running', sa.Integer, nullable=False, default=0),
    sa.Column('not_ready', sa.Text),
    # The newest revision of the tables that the manager's release needs; null: it is older than
    # this column.
    sa.Column('tables_revision', base.text(32)),
    **base.MYSQL)

# The newest audit of the managers, in at most one row, and the first of its findings.
AUDITS = sa.Table(
    'audits', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=False),
    sa.Column('at', base.UtcDateTime, nullable=False),
    sa.Column('manager_id', base.text(255), nullable=False),
    sa.Column('finding_count', sa.Integer, nullable=False),
    sa.Column('findings', sa.JSON, nullable=False),
    **base.MYSQL)

# Each row confirms that the clock of the database was right at that moment.
CLOCK_CONFIRMATIONS = sa.Table(
    'clock_confirmations', base.METADATA,
    sa.Column('id', base.ID, primary_key=True, autoincrement=True),
    sa.Column('at', base.UtcDateTime, nullable=False),
    sqlite_autoincrement=True,
    **base.MYSQL)

# The last slot of time for which a manager did some periodic work, so that no other does it again.
WORK_SLOTS = sa.Table(
    'work_slots', base.METADATA,
    sa.Column('work', base.text(64), primary_key=True),
    sa.Column('slot', base.UtcDateTime, nullable=False),
    **base.MYSQL)

# The number of visible changes is the sum of these rows. Several rows, because a transaction locks
# the row that it changes.
CHANGE_COUNTS = sa.Table(
    'change_counts', base.METADATA,
    sa.Column('id', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('changes', sa.BigInteger, nullable=False),
    **base.MYSQL)
