# SPDX-License-Identifier: Apache-2.0
"""The page of capacity: utilisation, forecast, usage, the wait queue and statements."""
import flask

from climate.client import statuses
from climate.console import rest
from climate.console.pages import pools

blueprint = flask.Blueprint('capacity', __name__)

_FIGURES = ('allocated', 'occupied', 'idle', 'refused')
_MOST = 100


@blueprint.get('/capacity')
def show():
    """Show what needs no scripts; scripts draw the rest."""
    client = rest.client()
    return flask.render_template(
        'capacity.html', pools=pools.names(client), figures=_FIGURES,
        usage=client.usage.report(group_by=['type']),
        waiting=client.leases.list(status=statuses.ACQUIRING, limit=_MOST),
        statements=client.statements.list())
