# SPDX-License-Identifier: Apache-2.0
"""The seconds between two moments, as an expression of SQL."""
import sqlalchemy as sa
from sqlalchemy.ext import compiler
from sqlalchemy.sql import functions


class SecondsBetween(functions.GenericFunction):
    """The seconds from one moment until another, a whole number that is less than one off."""

    type = sa.BigInteger()
    inherit_cache = True


@compiler.compiles(SecondsBetween, 'sqlite')
def _of_sqlite(element, compiling, **options):
    start, end = (compiling.process(moment, **options) for moment in element.clauses)
    # Two calls of strftime would take four times as long.
    return f'round((julianday({end}) - julianday({start})) * 86400)'


@compiler.compiles(SecondsBetween, 'postgresql')
def _of_postgresql(element, compiling, **options):
    start, end = (compiling.process(moment, **options) for moment in element.clauses)
    return f'CAST(EXTRACT(EPOCH FROM ({end} - {start})) AS BIGINT)'


@compiler.compiles(SecondsBetween, 'mysql')
@compiler.compiles(SecondsBetween, 'mariadb')
def _of_mysql(element, compiling, **options):
    start, end = (compiling.process(moment, **options) for moment in element.clauses)
    return f'TIMESTAMPDIFF(SECOND, {start}, {end})'
