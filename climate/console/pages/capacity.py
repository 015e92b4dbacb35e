# SPDX-License-Identifier: Apache-2.0
"""The page of capacity: utilisation, forecast, usage, energy, the wait queue and statements."""
import flask

from climate.client import statuses
from climate.console import rest
from climate.console import tables
from climate.console.pages import pools

blueprint = flask.Blueprint('capacity', __name__, url_prefix='/capacity')

_FIGURES = ('allocated', 'occupied', 'idle', 'refused')
_MOST = 100
_ENERGY = ('pool', 'name', 'power_state', 'power_since', 'hours_asleep', 'watts', 'kwh_saved')
_WAITING = ('id', 'name', 'project_id', 'acquire_type', 'created_at', 'status_reason')
_FORECAST = ('start', 'expected', 'low80', 'high80', 'low95', 'high95', 'allocated', 'missing')


@blueprint.get('')
def show():
    """Show what needs no scripts; scripts draw the rest."""
    client = rest.client()
    return flask.render_template(
        'capacity.html', pools=pools.names(client), figures=_FIGURES,
        usage=client.usage.report(group_by=['type']), waiting=_waiting(client),
        energy=rest.allowed(client.energy.report, None), statements=client.statements.list())


@blueprint.get('/energy.csv')
def energy():
    return tables.as_csv('energy', _ENERGY, rest.client().energy.report()['resources'])


@blueprint.get('/queue.csv')
def queue():
    return tables.as_csv('queue', _WAITING, _waiting(rest.client()))


@blueprint.get('/forecast.csv')
def forecast():
    found = rest.client().plans.forecast(pool=flask.request.args.get('pool', 'host'))
    return tables.as_csv('forecast', _FORECAST, found['hours'])


def _waiting(client):
    """Return the leases of the project that wait; those of all projects for an administrator."""
    return [{**lease, 'acquire_type': (lease.get('acquire') or {}).get('type')}
            for lease in client.leases.list(status=statuses.ACQUIRING, limit=_MOST,
                                            all_projects=rest.is_admin() or None)]
