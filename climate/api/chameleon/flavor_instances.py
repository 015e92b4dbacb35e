# SPDX-License-Identifier: Apache-2.0
"""The path /v1/flavor-instances/availability: the number of free instances over time."""
import pecan

from climate import errors
from climate.api import body
from climate.api import operations
from climate.api import times
from climate.api.controllers import base
from climate.domain import records
from climate.policies import availability as rules

#: The type whose instances are counted.
TYPE = 'flavor:instance'
_PARAMETERS = ('flavor_id', 'start_date', 'end_date')
OPERATION = operations.operation(
    'Show how many instances of a flavor, or of each, are free, and when',
    query=list(map(operations.query, _PARAMETERS)))


class FlavorInstancesController(base.Controller):
    """Routes to the availability of flavors."""

    def __init__(self, parts):
        super().__init__(parts)
        self.availability = FlavorAvailabilityController(parts)


class FlavorAvailabilityController(base.Controller):
    """Counts the free instances of a flavor over time."""

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller, flavor_id = self._authorized(req, rules.GET), req.GET.get('flavor_id')
        if flavor_id:
            body.refuse_unprintable(flavor_id, 'flavor_id', 1)
        start, end = (_date(req, name) for name in _PARAMETERS[1:])
        most = self._parts.conf.api.max_limit
        try:
            calendars = self._calendars(caller, flavor_id, (start, end, most + 1))
        except (errors.BadField, errors.BadDate) as error:
            raise _renamed(error) from error
        if sum(len(spans) for _, spans in calendars) > most:
            raise errors.BadField(field='end_date', reason=(
                f'the number changes more than {most} times until then: ask for a shorter time'
                f'{"" if flavor_id else ", or for one flavor_id"}.'))
        return {'flavor_instances': [_shown(*calendar) for calendar in calendars]}

    def _calendars(self, caller, flavor_id, window):
        """Return [(flavor id, CalendarSpans)], of all flavors of the caller without a flavor id.

        :param window: (start, end, number of CalendarSpans at which the list ends).
        """
        if not flavor_id:
            return [(calendar.kind, calendar.spans) for calendar in
                    self._parts.manager.kinds_calendar(caller, TYPE, *window)]
        request = records.ReservationRequest(
            resource_type=TYPE, request={'flavor_id': flavor_id, 'amount': 1})
        return [(flavor_id, self._parts.manager.copies_calendar(caller, request, *window))]


def _shown(flavor_id, spans):
    return {'flavor_id': flavor_id, 'availability': [
        {'start': f'{span.start:%Y-%m-%d %H:%M}', 'end': f'{span.end:%Y-%m-%d %H:%M}',
         'available': span.free, 'total': span.total} for span in spans]}


def _date(req, name):
    """Return a moment of the query; None if it is absent or "now"."""
    moment = times.minute(name, req.GET[name]) if req.GET.get(name) else None
    if moment != times.NOW:
        return moment
    if name == 'end_date':
        raise errors.BadDate(value='now', field=name, reason='it must be in the future')
    return None


def _renamed(error):
    """Return an error that names the field as the query does."""
    field = error.kwargs['field']
    if field in ('start', 'end'):
        return errors.BadField(field=f'{field}_date', reason=error.message.partition(': ')[2])
    return errors.BadField(**{**error.kwargs, 'field': field.removeprefix(f'{TYPE}.')})
