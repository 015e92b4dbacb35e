# SPDX-License-Identifier: Apache-2.0
"""The pages of leases: the list with the held offers, one lease, and the form for a new one."""
import dataclasses

import flask

from climate.client import status_words
from climate.client import times
from climate.console import lease_page
from climate.console import rest
from climate.console import texts

blueprint = flask.Blueprint('leases', __name__, url_prefix='/leases')

_MOST = 200
_LIVING, _PAST = 'living', 'past'
#: {value of "which" in the query: the statuses of REST 1.1}
_WHICH = {_LIVING: status_words.LIVING,
          _PAST: tuple(sorted(status_words.PAST - {status_words.DELETED}))}


@dataclasses.dataclass(frozen=True)
class ListedLease:
    """A lease in a list.

    :ivar start: ISO text; '' while the lease waits for its resources, as is `end`.
    """

    id: str
    name: str
    project_id: str
    status: str
    left: str
    start: str
    end: str
    what: str


@dataclasses.dataclass(frozen=True)
class ListedOffer:
    """A held offer in a list.

    :ivar price: as REST shows it; None: there is no price book.
    """

    id: str
    start: str
    end: str
    held_until: str
    what: str
    price: dict | None


@blueprint.get('')
def several():
    """List the leases and held offers of the project; an administrator may see all projects."""
    which = flask.request.args.get('which')
    which = which if which in _WHICH else _LIVING
    everybody = 'all_projects' in flask.request.args
    client = rest.client()
    leases = [_listed(lease) for lease in client.leases.list(
        limit=_MOST + 1, status=_WHICH[which], all_projects=everybody or None)]
    return flask.render_template(
        'leases.html', leases=leases[:_MOST], more=len(leases) > _MOST, most=_MOST, which=which,
        everybody=everybody, admin=rest.is_admin(),
        offers=_offers(client) if which == _LIVING else [])


@blueprint.get('/new')
def new():
    """Show the form for a new lease, filled like the lease that the query names with "like"."""
    like = flask.request.args.get('like')
    return flask.render_template(
        'new_lease.html', repeated=rest.client().leases.request(like) if like else None)


@blueprint.get('/<lease_id>')
def one(lease_id):
    """Show a lease, its resources, what to do about it, and its history."""
    client = rest.client()
    lease = client.leases.get(lease_id)
    return flask.render_template(
        'lease.html', lease=lease, row=_listed(lease), etag=lease.etag,
        **lease_page.facts(client, lease))


def _offers(client):
    """Return the ListedOffers that the project holds."""
    return [ListedOffer(offer['id'], offer['start'], offer['end'], offer['held_until'],
                        _describe_all(offer['reservations']), offer.get('price'))
            for offer in rest.allowed(client.offers.list, [])]


def _listed(lease):
    waits = lease['status'] == status_words.ACQUIRING
    return ListedLease(lease['id'], lease['name'], lease['project_id'], lease['status'],
                       '' if waits else times.remaining(lease, times.utcnow()),
                       '' if waits else lease['start'], '' if waits else lease['end'],
                       _describe_all(lease['reservations']))


def _describe_all(reservations):
    return '; '.join(map(_describe, reservations))


def _describe(reservation):
    """Return the number and type of the resources of a reservation, such as "2 hosts"."""
    resource_type = reservation['resource_type']
    least, most = reservation.get('min'), reservation.get('max')
    count = reservation.get('amount') or (most if least == most else f'{least} to {most}')
    if count == 1 and f'one.{resource_type}' in texts.all_texts():
        return '1 × ' + texts.text(f'one.{resource_type}')
    kind = texts.text(f'type.{resource_type}')
    return kind if count is None else f'{count} × {kind}'
