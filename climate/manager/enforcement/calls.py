# SPDX-License-Identifier: Apache-2.0
"""Make the stored calls of the enforcement service, and withdraw questions of failed requests."""
import dataclasses

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import enforcement_calls
from climate.domain import enforcement
from climate.enforcement import base
from climate.manager import core as cores
from climate.manager import counters

LOG = log.getLogger(__name__)


class CommitRefused(Exception):
    """The service refuses to charge for a lease that is written already.

    :ivar call: the EnforcementCall.
    :ivar error: the EnforcementRefused.
    """

    def __init__(self, call, error):
        super().__init__(error.message)
        self.call = call
        self.error = error


class Calls:
    """Calls the service for EnforcementCalls, and counts the results."""

    def __init__(self, core):
        self._core = core

    def make(self, method, call, token=None):
        """Call `ask`, `commit` or `end` of the driver for an EnforcementCall."""
        driver = self._core.enforcement
        result = counters.UNAVAILABLE
        try:
            getattr(driver, method)(base.Call(call.call_id, call.kind, call.body, token))
            result = counters.ALLOWED
        except errors.EnforcementRefused:
            result = counters.REFUSED
            raise
        finally:
            self._core.counts.enforcement(method, result)

    def commit(self, call):
        """Report a DUE call now; if the service does not answer, it is reported later.

        :raises CommitRefused: the service refuses.
        """
        try:
            self.make('commit', call)
        except errors.EnforcementRefused as error:
            raise CommitRefused(call, error) from error
        except errors.ClimateError as error:
            LOG.warning('Lease %s: its %s is reported later: %s', call.lease_id, call.kind,
                        error.message)
            return
        self._reported(call)

    @cores.again_after_a_race
    def _reported(self, call):
        with self._core.database.writer() as connection:
            enforcement_calls.reported(connection, call)


@cores.again_after_a_race
def withdraw(core, call):
    """Withdraw an ASKING call whose lease or change was not written.

    If the service may have charged when it was asked, this is reported: by the end of a lease that
    does not exist, or by a change back to what it knew before.
    """
    with core.database.writer() as connection:
        following = None
        if call.asked and core.enforcement is not None and core.enforcement.charges_when_asked:
            known = enforcement_calls.of_lease(connection, call.lease_id, locked=True)
            if not any(each.call_id == call.call_id and each.state == call.state
                       for each in known):
                return
            others = [each for each in known if each.call_id != call.call_id]
            following = _reversal(core.clock(), call, others)
            if following is not None and following.kind == enforcement.END:
                # One report of the end is enough for all questions that were withdrawn.
                enforcement_calls.forget(connection, others)
        enforcement_calls.replace(connection, call, following)


def _reversal(now, call, others):
    """Return the DUE EnforcementCall that undoes the effect of a question; None: none is needed.

    :param others: the other EnforcementCalls of the lease.
    """
    due = dataclasses.replace(call, call_id=uuidutils.generate_uuid(), state=enforcement.DUE,
                              asked=False, created_at=now, due_at=now, attempts=0)
    if call.kind == enforcement.CREATE:
        if any(each.kind != enforcement.END for each in others):
            # A concurrent copy of the request has written the lease, or withdraws its question.
            return None
        return dataclasses.replace(due, kind=enforcement.END)
    known = [each for each in others if each.state == enforcement.REPORTED]
    if not known:
        return None
    return dataclasses.replace(due, body={
        **call.body, 'lease': known[-1].lease, 'current_lease': call.lease},
        generation=known[-1].generation)
