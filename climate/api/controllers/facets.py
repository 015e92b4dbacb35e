# SPDX-License-Identifier: Apache-2.0
"""The facets of a pool, from REST 1.1 on: the values that criteria can use, with counts."""
import pecan

from climate import errors
from climate.api import body
from climate.api import lease_body
from climate.api import permissions
from climate.api import queries
from climate.api import schemas
from climate.api import times
from climate.api.controllers import pool_part
from climate.domain import facets


class FacetsController(pool_part.PoolPartController):
    """Counts the resources of a pool by the values of their properties."""

    since_1_1 = 'Facets are served'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, self._serializer.rules.get_properties)
        hidden = permissions.may_use_hidden_criteria(self._parts.policy, caller, False)
        return _shown(self._parts.manager.find_facets(
            caller, self._query(req, hidden)))

    def _query(self, req, hidden):
        """Parse the query into a ``facets.FacetQuery``.

        :raises BadRequest: a field is unknown, repeated or malformed; the error names it.
        """
        queries.check(req, schemas.FACETS)
        given, now = req.GET, self._parts.clock()
        start, end = (times.asked(name, given[name], now) if name in given else None
                      for name in ('start', 'end'))
        seconds = times.seconds('duration', given['duration']) if 'duration' in given else None
        if end is not None and seconds is not None:
            raise errors.BadField(field='duration', reason='end is given, too; leave one out.')
        return facets.FacetQuery(
            pool=self._serializer.pool, start=start, end=end, duration_seconds=seconds,
            criteria=given.get('criteria', ''), hidden=hidden,
            reservation=_reservation(given['reservation']) if 'reservation' in given else None)


def _reservation(text):
    """Parse the JSON text of a reservation as in the body of a lease.

    :raises BadField: it is not such a text.
    """
    try:
        data = body.load(text, 'reservation')
    except ValueError as error:
        raise errors.BadField(field='reservation', reason=(
            f'it is not JSON: {error}. Write an object as in the body of a lease: '
            '{"resource_type": "physical:host", "min": 1, "max": 1}.')) from error
    body.check(data, schemas.FACET_RESERVATION)
    return lease_body.reservation(data)


def _shown(answer):
    return {
        'start': times.shown(answer.start), 'end': times.shown(answer.end), 'total': answer.total,
        'matching': answer.matching, 'free': answer.free,
        'facets': [{
            'property': facet.name, 'kind': facet.kind, 'more': facet.more,
            'values': [{'value': each.value, 'matching': each.matching, 'free': each.free}
                       for each in facet.values]} for facet in answer.facets]}
