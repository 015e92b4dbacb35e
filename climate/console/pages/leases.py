# SPDX-License-Identifier: Apache-2.0
"""The pages of leases: the list, one lease, and the form for a new one."""
import dataclasses

import flask

from climate.client import statuses
from climate.client import times
from climate.client.commands import server_create
from climate.console import rest
from climate.console import texts

blueprint = flask.Blueprint('leases', __name__, url_prefix='/leases')

_MOST = 200
#: {a word of the query: the statuses of REST 1.1 that it stands for}
_WHICH = {'living': statuses.LIVING, 'past': tuple(sorted(statuses.PAST - {statuses.DELETED}))}


@dataclasses.dataclass(frozen=True)
class Row:
    """A lease in a list."""

    id: str
    name: str
    status: str
    left: str
    start: str
    end: str
    what: str


@blueprint.get('')
def several():
    """List the leases of the project; those of all projects if an administrator asks."""
    which = flask.request.args.get('which', 'living')
    everybody = 'all_projects' in flask.request.args
    found = rest.client().leases.list(limit=_MOST, status=_WHICH.get(which, statuses.LIVING),
                                      all_projects=everybody or None)
    return flask.render_template('leases.html', leases=[_row(each) for each in found])


@blueprint.get('/new')
def new():
    return flask.render_template('new_lease.html')


@blueprint.get('/<lease_id>')
def one(lease_id):
    """Show a lease, how to boot with it, and its history."""
    client = rest.client()
    lease = client.leases.get(lease_id)
    return flask.render_template(
        'lease.html', lease=lease, row=_row(lease), etag=lease.etag,
        boots=[found for found in server_create.of_lease(lease) if 'arguments' in found],
        history=client.leases.history(lease_id), moves=_moves(lease),
        changeable=lease['status'] not in statuses.OVER | statuses.PAST)


def _moves(lease):
    """Return the hosts that a best effort clears for a lease; see the API page of leases."""
    plan = (lease.get('acquire') or {}).get('plan') or {}
    return plan.get('hosts', ())


def _row(lease):
    waits = lease['status'] == statuses.ACQUIRING
    return Row(lease['id'], lease['name'], lease['status'],
               '' if waits else times.remaining(lease, times.utcnow()),
               '' if waits else times.for_people(lease['start']),
               '' if waits else times.for_people(lease['end']),
               '; '.join(_what(each) for each in lease['reservations']))


def _what(reservation):
    """Return what a reservation is of, such as "2 hosts"."""
    kind = texts.text('type.' + reservation['resource_type'])
    least, most = reservation.get('min'), reservation.get('max')
    count = reservation.get('amount') or (most if least == most else f'{least} to {most}')
    return kind if count in (None, 'None to None') else f'{count} × {kind}'
