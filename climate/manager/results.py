# SPDX-License-Identifier: Apache-2.0
"""How the action of an event went, to be written down."""
import dataclasses

DONE = 'done'
BUSY = 'busy'
FAILED = 'failed'
MOOT = 'moot'
RECORDED = 'recorded'


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How an action went.

    :ivar result: DONE; BUSY, to be tried again in a moment; FAILED; MOOT, nothing was to be done;
        RECORDED, all was written down already, with the end of the claim.
    :ivar reason: in words, for the lease and the log.
    :ivar states: {reservation id: its new state}.
    :ivar bindings: {reservation id: what the cloud made for it}.
    :ivar free: ids of reservations that occupy nothing any more.
    :ivar patient: while it is BUSY it is tried again as often as it takes.
    :ivar over: no reservation of the lease is left, so that it ends before its time.
    :ivar in_vain: ids of reservations that are over because what they lease never came.
    """

    result: str
    reason: str | None = None
    states: dict = dataclasses.field(default_factory=dict)
    bindings: dict = dataclasses.field(default_factory=dict)
    free: frozenset = frozenset()
    patient: bool = False
    over: bool = False
    in_vain: frozenset = frozenset()

    def without(self, ids):
        """The same where nothing is said of the reservations `ids`: they are to be tried again."""
        return dataclasses.replace(
            self, result=BUSY if self.result == DONE else self.result, over=False,
            states={key: state for key, state in self.states.items() if key not in ids},
            free=self.free - ids, in_vain=self.in_vain - ids)
