# SPDX-License-Identifier: Apache-2.0
"""The page of operators: resources, maintenance, energy, managers, idle leases."""
import flask

from climate.client import errors
from climate.console import rest
from climate.console.pages import pools

blueprint = flask.Blueprint('operator', __name__)


@blueprint.get('/operator')
def show():
    """Show what operators look after. climate-api decides who may see it."""
    client = rest.client()
    pool = flask.request.args.get('pool', 'host')
    return flask.render_template(
        'operator.html', pool=pool, pools=pools.names(client),
        resources=[*client.pool(pool).list()], services=[*client.services.list()],
        maintenances=[*client.maintenances.list()], energy=client.energy.report(),
        idle=_idle(client))


def _idle(client):
    """Return the idle leases of all projects."""
    try:
        return [*client.leases.list(idle=True, all_projects=True)]
    except errors.Forbidden:
        return []
