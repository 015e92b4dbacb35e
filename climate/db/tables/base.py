# SPDX-License-Identifier: Apache-2.0
"""The types and arguments of columns that all tables share."""
import dataclasses
import datetime

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from climate.domain import records

METADATA = sa.MetaData(naming_convention={
    'ix': 'ix_%(table_name)s_%(column_0_N_name)s',
    'uq': 'uq_%(table_name)s_%(column_0_N_name)s',
    'fk': 'fk_%(table_name)s_%(column_0_name)s',
    'pk': 'pk_%(table_name)s',
})


class UtcDateTime(sa.types.TypeDecorator):
    """A moment with microseconds; in Python it is aware and in UTC.

    The column is DATETIME(6) on MariaDB, because plain DATETIME drops fractions of seconds.
    """

    impl = sa.DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect):
        if dialect.name == 'mysql':
            return dialect.type_descriptor(mysql.DATETIME(fsp=6))
        return dialect.type_descriptor(sa.DateTime(timezone=dialect.name == 'postgresql'))

    def process_bind_param(self, value, dialect):
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError('Climate stores only moments that have a time zone.')
        value = value.astimezone(datetime.UTC)
        return value if dialect.name == 'postgresql' else value.replace(tzinfo=None)

    def result_processor(self, dialect, coltype):
        # A page of a list has some thousand moments. SQLAlchemy's default would create two objects
        # for each and take ten times as long.
        return {'sqlite': _read_text, 'mysql': _read_plain}.get(dialect.name, _read_aware)


def _read_text(value):
    return None if value is None else datetime.datetime.fromisoformat(value + '+00:00')


def _read_plain(value):
    return None if value is None else value.replace(tzinfo=datetime.UTC)


def _read_aware(value):
    # PostgreSQL returns moments in the time zone of the connection.
    return None if value is None else value.astimezone(datetime.UTC)


class NameList(sa.types.TypeDecorator):
    """Ordered names: a tuple in Python, a JSON list in the database; null if it is empty."""

    impl = sa.JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return list(value) if value else None

    def process_result_value(self, value, dialect):
        return tuple(value or ())


class Hidden(sa.types.TypeDecorator):
    """Secrets, {name: value}; null if there are none.

    They are read as records.Secrets, which hide their values, because SQLAlchemy logs rows at
    DEBUG.
    """

    impl = sa.JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return dict(value) if value else None

    def process_result_value(self, value, dialect):
        return records.Secrets(value or {})


def text(length):
    # MariaDB compares this collation byte by byte, so names that differ only in case are distinct.
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def long_text():
    return sa.Text().with_variant(
        mysql.TEXT(charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def stamps():
    return (sa.Column('created_at', UtcDateTime, nullable=False),
            sa.Column('updated_at', UtcDateTime))


def columns(table, record, *others):
    """Return the columns of a table for the fields of a record class, in the order of the fields.

    :param others: the last fields of the record, for which the table has no columns.
    """
    names = [field.name for field in dataclasses.fields(record)]
    return tuple(table.c[name] for name in names if name not in others)


ID = sa.BigInteger().with_variant(sa.Integer, 'sqlite')
MYSQL = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4'}
