# SPDX-License-Identifier: Apache-2.0
"""The page of operators: resources, maintenance, managers, the audit, idle leases."""
import flask

from climate.console import rest

blueprint = flask.Blueprint('operator', __name__)


@blueprint.get('/operator')
def show():
    """Show the page of operators. climate-api decides who may see its parts."""
    client = rest.client()
    pool = flask.request.args.get('pool', 'host')
    return flask.render_template(
        'operator.html', pool=pool, pools=rest.pool_names(),
        resources=[*client.pool(pool).list()], services=[*client.services.list()],
        maintenances=[*client.maintenances.list()], audit=rest.allowed(client.audit.newest, None),
        idle=rest.allowed(lambda: [*client.leases.list(idle=True, all_projects=True)], []))
