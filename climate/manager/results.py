# SPDX-License-Identifier: Apache-2.0
"""The outcome of the action of an event, which the event loop writes to the database."""
import dataclasses

from climate.domain import idle
from climate.domain import texts

DONE = 'done'
BUSY = 'busy'
FAILED = 'failed'
MOOT = 'moot'
RECORDED = 'recorded'


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of the action of one event.

    :ivar result: DONE; BUSY, try again soon; FAILED; MOOT, there was nothing to do; RECORDED, the
        action has already written its result and the end of the claim.
    :ivar reason: a ``texts.Text`` for the lease and the log, or None.
    :ivar states: {reservation id: its new state}.
    :ivar bindings: {reservation id: the binding, which describes its objects in the cloud}.
    :ivar free: ids of reservations that occupy no resource any more.
    :ivar released: {reservation id: ids of resources released before the reservation has ended}.
    :ivar patient: the number of tries is not limited while the result is BUSY.
    :ivar slow: the cloud takes minutes, so the pauses between tries grow.
    :ivar unreachable: the action failed only because services of the cloud did not answer.
    :ivar over: no reservation of the lease is left, so the lease ends early.
    :ivar start_abandoned: the start failed for too long, so the unstarted reservations were ended.
    :ivar warnings: {reservation id: {key: texts.Text}}, for the history and reason of the lease.
    :ivar missing_resources: ids of reservations that started with less than requested; None if
        unknown.
    :ivar reclaimed: the ``domain.idle.Reclamation`` of an idle lease, or None.
    :ivar targetless: ids of reservations that are over because their target was never created.
    """

    result: str
    reason: texts.Text | None = None
    states: dict = dataclasses.field(default_factory=dict)
    bindings: dict = dataclasses.field(default_factory=dict)
    free: frozenset = frozenset()
    patient: bool = False
    slow: bool = False
    unreachable: bool = False
    over: bool = False
    start_abandoned: bool = False
    targetless: frozenset = frozenset()
    warnings: dict = dataclasses.field(default_factory=dict)
    released: dict = dataclasses.field(default_factory=dict)
    missing_resources: frozenset | None = None
    reclaimed: idle.Reclamation | None = None

    def without(self, ids):
        """Return this outcome without the reservations `ids`, which are tried again later."""
        return dataclasses.replace(
            self, result=BUSY if self.result == DONE else self.result, over=False,
            states={key: state for key, state in self.states.items() if key not in ids},
            free=self.free - ids, targetless=self.targetless - ids)
