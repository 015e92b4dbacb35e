# SPDX-License-Identifier: Apache-2.0
"""The dialect of coral-credits, which charges after the booking."""
import dataclasses

from climate.enforcement import base
from climate.enforcement import blazar

_UNKNOWN_LEASE = 'No Consumer matches'
_KNOWN_LEASE = ('UNIQUE constraint', 'Duplicate entry', 'duplicate key')


class Coral(blazar.Blazar):
    """coral-credits looks when it is asked, and charges when the booking is reported.

    It needs a text as the affinity of instances, and at least 1 of each resource class.
    """

    charges_when_asked = False
    header = 'Authorization'
    reports = {base.CREATE: 'create', base.UPDATE: 'update', base.END: 'on-end'}

    def lease(self, lease):
        return {**lease,
                # It refuses 0 of a class, and fails if a class of the account is missing.
                'resource_requests': {name: max(1, amount) for name, amount
                                      in lease['resource_requests'].items()},
                'reservations': [_reservation(each) for each in lease['reservations']]}

    def is_done(self, call, answer):
        if call.kind == base.END:
            return answer.status == 404 and (answer.text or '').startswith(_UNKNOWN_LEASE)
        # A repeated report of a creation violates a constraint of its database.
        return call.kind == base.CREATE and answer.status == 403 and any(
            words in (answer.text or '') for words in _KNOWN_LEASE)

    def closing(self, call):
        # It takes the moment of the call as the end of the lease. An update has the real end.
        return dataclasses.replace(call, kind=base.UPDATE, body={
            **call.body, 'current_lease': call.body['lease']})


def _reservation(reservation):
    """Return a reservation with the fields that coral-credits accepts."""
    if reservation['resource_type'] != 'virtual:instance':
        return dict(reservation)
    # It refuses an empty text as the properties.
    return {**{name: value for name, value in reservation.items()
               if name != 'resource_properties' or value},
            'affinity': str(reservation.get('affinity'))}
