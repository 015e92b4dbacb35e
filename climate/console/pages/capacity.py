# SPDX-License-Identifier: Apache-2.0
"""The page of capacity: utilisation, forecast, usage, limits, energy, wait queue, statements."""
import csv
import io
import re

import flask

from climate.client import status_words
from climate.console import rest

blueprint = flask.Blueprint('capacity', __name__, url_prefix='/capacity')

_FIGURES = ('allocated', 'occupied', 'idle', 'refused')
_MOST = 100
_ENERGY = ('pool', 'name', 'power_state', 'power_since', 'hours_asleep', 'watts', 'kwh_saved')
_WAITING = ('id', 'name', 'project_id', 'acquire_type', 'created_at', 'status_reason')
_FORECAST = ('start', 'expected', 'low80', 'high80', 'low95', 'high95', 'allocated', 'missing')
# A spreadsheet takes a cell that begins with one of these for a formula.
_FORMULA = ('=', '+', '-', '@', '\t', '\r')
_NUMBER = re.compile(r'-?\d+(\.\d+)?')


@blueprint.get('')
def show():
    """Show the parts that need no scripts; scripts draw the charts."""
    client = rest.client()
    return flask.render_template(
        'capacity.html', pools=rest.pool_names(), figures=_FIGURES,
        usage=client.usage.report(group_by=['type']), waiting=_waiting(client),
        energy=rest.allowed(client.energy.report, None),
        limits=rest.allowed(client.limits.report, None), statements=client.statements.list())


@blueprint.get('/energy.csv')
def energy():
    return _as_csv('energy', _ENERGY, rest.client().energy.report()['resources'])


@blueprint.get('/queue.csv')
def queue():
    return _as_csv('queue', _WAITING, _waiting(rest.client()))


@blueprint.get('/forecast.csv')
def forecast():
    answer = rest.client().plans.forecast(pool=flask.request.args.get('pool', 'host'))
    return _as_csv('forecast', _FORECAST, answer['hours'])


def _waiting(client):
    """Return the leases of the project that wait; those of all projects for an administrator."""
    return [{**lease, 'acquire_type': (lease.get('acquire') or {}).get('type')}
            for lease in client.leases.list(status=status_words.ACQUIRING, limit=_MOST,
                                            all_projects=rest.is_admin() or None)]


def _as_csv(name, columns, rows):
    """Answer with a table (RFC 4180), which the browser saves.

    :param name: the name of the file without ".csv".
    :param columns: the names of the columns.
    :param rows: mappings {column: value}; an absent value is an empty cell.
    """
    text = io.StringIO(newline='')
    writer = csv.writer(text)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_harmless(row.get(column)) for column in columns])
    return flask.Response(text.getvalue(), mimetype='text/csv', headers={
        'Content-Disposition': f'attachment; filename="{name}.csv"'})


def _harmless(value):
    """Return a cell that no spreadsheet runs as a formula."""
    is_formula = (isinstance(value, str) and value.startswith(_FORMULA)
                  and not _NUMBER.fullmatch(value))
    return f"'{value}" if is_formula else value
