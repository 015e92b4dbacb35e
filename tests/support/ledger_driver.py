# SPDX-License-Identifier: Apache-2.0
"""An enforcement driver whose service is a table in this process: the charge of each lease."""
import datetime

from climate import errors
from climate.domain import enforcement
from climate.enforcement import base

_HOUR = datetime.timedelta(hours=1)


def charge_of(lease):
    """Return the charge of the body of a lease, as in `LedgerDriver.charges`."""
    return _start_of(lease), enforcement.end_of(lease), sum(
        len(each['allocations']) for each in lease['reservations'])


def _start_of(lease):
    return datetime.datetime.fromisoformat(lease['start_date']).replace(tzinfo=datetime.UTC)


class LedgerDriver(base.EnforcementDriver):
    """Charges the host hours of leases, when it is asked or when the lease is reported.

    :ivar charges: {lease id: (start, end, number of hosts)}; a lease that ended without use has
        none.
    :ivar latest_end: leases that end later are refused; None: none is.
    :ivar refusing: the names of the calls that refuse.
    :ivar silent: whether no call gets an answer.
    :ivar reach: called before and after each call has its effect, with the name of the call.
    """

    def __init__(self, conf, charges_when_asked=False):
        super().__init__(conf, None)
        self.charges_when_asked = charges_when_asked
        self.charges = {}
        self.latest_end = None
        self.refusing = ('ask', 'commit')
        self.silent = False
        self.reach = lambda *where: None

    def ask(self, call):
        self._answer('ask', call, self.charges_when_asked)

    def commit(self, call):
        self._answer('commit', call, True)

    def end(self, call):
        self._answer('end', call, True)

    def _answer(self, name, call, charges):
        self.reach(name, 'before')
        if self.silent:
            raise errors.EnforcementUnavailable(reason='it is silent.')
        if (name in self.refusing and self.latest_end is not None
                and enforcement.end_of(call.body['lease']) > self.latest_end):
            raise errors.EnforcementRefused(reason='Nothing is left.')
        if charges:
            self._charge(call)
        self.reach(name, 'after')

    def _charge(self, call):
        lease = call.body['lease']
        start, end = _start_of(lease), enforcement.end_of(lease)
        if call.kind == base.END and lease['id'] not in self.charges:
            return
        if end <= start or (call.kind == base.END and self.charges_when_asked
                            and call.body.get('current_lease') is None):
            # The end of a lease that was never written returns everything.
            self.charges.pop(lease['id'], None)
            return
        self.charges[lease['id']] = charge_of(lease)

    def hours(self):
        """Return the charged host hours of each lease."""
        return {lease_id: count * ((end - start) / _HOUR)
                for lease_id, (start, end, count) in self.charges.items()}
