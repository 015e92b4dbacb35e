# SPDX-License-Identifier: Apache-2.0
"""The pages of leases: the list with the held offers, one lease, and the form for a new one."""
import dataclasses

import flask

from climate.client import status_words
from climate.console import lease_list
from climate.console import lease_page
from climate.console import lease_series
from climate.console import rest
from climate.console import texts

blueprint = flask.Blueprint('leases', __name__, url_prefix='/leases')


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
    client, query = rest.client(), lease_list.ListQuery(flask.request.args)
    page = lease_list.find(client, query)
    plain = query['which'] == lease_list.LIVING and page.number == 1 and not query.is_filtered
    series = lease_series.find(client, query['series_id'])
    statuses = {word: texts.text(f'status.{word}') for word in status_words.LEASE}
    return flask.render_template(
        'leases.html', page=page, query=query, admin=rest.is_admin(),
        columns={name: key for name, key in lease_list.COLUMNS.items()
                 if name != 'project' or query.everybody},
        types=texts.with_prefix('type.'), statuses=statuses, rows=lease_list.ROWS,
        usual_rows=lease_list.USUAL_ROWS, newest_first=lease_list.NEWEST_FIRST,
        offers=_offers(client) if plain else [], series=series,
        without_lease=lease_series.problems(series))


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
        'lease.html', lease=lease, row=lease_list.listed(lease), etag=lease.etag,
        **lease_page.facts(client, lease))


def _offers(client):
    """Return the ListedOffers that the project holds."""
    return [ListedOffer(offer['id'], offer['start'], offer['end'], offer['held_until'],
                        lease_list.describe_all(offer['reservations']), offer.get('price'))
            for offer in rest.allowed(client.offers.list, [])]
