# SPDX-License-Identifier: Apache-2.0
"""The page of operators: resources, maintenance, managers, the audit, idle leases."""
import dataclasses

import flask
import werkzeug.exceptions as http

from climate.client import errors
from climate.console import rest
from climate.console.pages import translations

blueprint = flask.Blueprint('operator', __name__)

#: The number of resources on one page.
ROWS = 50
_OPERATORS = '<>=!'


@dataclasses.dataclass(frozen=True)
class ResourcePage:
    """One page of the resources of a pool.

    :ivar text: the filter as the user wrote it: a part of a name, or criteria such as "rack=r7".
    :ivar criteria: the filter as JSON text; '' if it is no criteria.
    :ivar problem: why the filter cannot be used; None if it can.
    :ivar following: the marker of the next page; None: this is the last page.
    """

    text: str
    criteria: str = ''
    problem: str | None = None
    rows: tuple = ()
    following: str | None = None


@blueprint.get('/operator')
def show():
    """Show the page of operators. climate-api decides who may see its parts."""
    client, pools = rest.client(), rest.pools()
    pool = flask.request.args.get('pool') or _first(pools)
    if pool not in pools and pool is not None:
        raise http.NotFound('operator.no_such_pool')
    return flask.render_template(
        'operator.html', pool=pool, pools=sorted(pools), fields=pools.get(pool, ()),
        page=_page(client, pool) if pool else None, services=[*client.services.list()],
        maintenances=[*client.maintenances.list()], audit=rest.allowed(client.audit.newest, None),
        idle=rest.allowed(lambda: [*client.leases.list(idle=True, all_projects=True)], []))


def _first(pools):
    """Return the pool that is shown first; None: there are no pools."""
    return 'host' if 'host' in pools else min(pools, default=None)


def _page(client, pool):
    """Return the ResourcePage that the query of the request selects."""
    text = flask.request.args.get('filter', '').strip()
    query, criteria = {}, ''
    if set(_OPERATORS) & set(text):
        translated = translations.criteria_of(text)
        if 'problem' in translated:
            return ResourcePage(text, problem=translated['problem'])
        criteria = query['criteria'] = translated['criteria']
    elif text:
        query['search'] = text
    try:
        rows = _rows(client.pool(pool), query | {
            'limit': ROWS + 1, 'marker': flask.request.args.get('marker')})
    except errors.BadRequest as error:
        return ResourcePage(text, problem=error.message)
    return ResourcePage(text, criteria, rows=rows[:ROWS],
                        following=rows[ROWS - 1]['id'] if len(rows) > ROWS else None)


def _rows(resources, query):
    """Return resources, with their states if the user may see who has them."""
    rows = rest.allowed(lambda: (*resources.list(state=True, **query),), None)
    return (*resources.list(**query),) if rows is None else rows
