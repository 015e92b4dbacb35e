# SPDX-License-Identifier: Apache-2.0
"""What an audit may judge, and what it says where the cloud is not as the accounts say."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import re
from typing import Any

from climate.domain import agenda
from climate.domain import hunt
from climate.domain import lifecycle
from climate.domain import records

_ID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
# While one of these is due or is carried out, the cloud is between two pictures.
_MOVES = (agenda.ACQUIRE, agenda.PREPARE, agenda.START, agenda.HEAL, agenda.UPDATE,
          agenda.END, agenda.DELETE, agenda.GIVE_BACK)

#: What kinds of drift there are.
KINDS = ('left behind', 'held', 'freepool', 'incomplete', 'not enrolled', 'trust', 'not ended',
         'foreign host', 'unknown host', 'fence', 'lent')

# Repairs, in the order in which they are made, and how a table says what each does.
CLEAR = 'clear'
RELEASE = 'release'
MEND = 'mend'
COMPLETE = 'complete'
ENROL = 'enrol'
DROP_TRUST = 'drop trust'
UNFENCE = 'unfence'
GIVE_BACK = 'give back'
REPAIRS = {
    CLEAR: 'removes it',
    RELEASE: 'lets go of it in the accounts',
    MEND: 'puts it back, if it is empty',
    COMPLETE: 'adds what is missing',
    ENROL: 'enrols it, if it is empty',
    DROP_TRUST: 'drops it',
    UNFENCE: 'enables it',
    GIVE_BACK: 'gives it back, if it is empty',
}
BY_HAND = 'nothing: a person must decide'


@dataclasses.dataclass(frozen=True)
class Trace:
    """Something in the cloud that a reservation made.

    :ivar made_for: the id of the reservation; of its lease where the thing does not say which.
    :ivar kind: a noun for it, such as 'flavor'.
    :ivar name: how the cloud calls it.
    :ivar signed_by: it has a mark that only this resource type of Climate makes, so that all of its
        reservation is Climate's also where the accounts know no such reservation (any more).
    """

    made_for: str
    kind: str
    name: str
    signed_by: str | None = None


@dataclasses.dataclass(frozen=True)
class Drift:
    """One thing that is not as the accounts say.

    :ivar kind: one of a few words, for metrics.
    :ivar what: which thing, in words.
    :ivar problem: what is wrong with it, in words.
    :ivar repair: the key in REPAIRS of what a repair does; None where a person must act.
    :ivar target: what the repair is about: the id of a reservation, trust or server; for CLEAR the
        pair (resource type, `made_for` of the Trace), for MEND and ENROL (pool, name), for UNFENCE
        (service host, id of the lease).
    """

    kind: str
    what: str
    problem: str
    repair: str | None = None
    target: str | tuple[str, str] | None = None

    @property
    def key(self) -> tuple[str, str]:
        """By this it is known again; the words for what is wrong may change."""
        return self.kind, self.what

    @property
    def remedy(self) -> str:
        """What a repair does about it, in words."""
        return BY_HAND if self.repair is None else REPAIRS[self.repair]


@dataclasses.dataclass(frozen=True)
class Accounts:
    """What Climate's database says, as far as it can be compared with the cloud.

    :ivar leases: those that did not change while the cloud was read, and are not moving.
    :ivar resources: {pool: the enrolled resources that did not change meanwhile}.
    :ivar enrolled: {pool: names of all resources enrolled before or after the cloud was read}.
    """

    leases: tuple[records.Lease, ...]
    resources: Mapping[str, tuple[records.Resource, ...]]
    enrolled: Mapping[str, frozenset[str]]

    def running(self) -> list[tuple[records.Lease, records.Reservation]]:
        """The reservations that are with their projects now, each with its lease."""
        return [(lease, each) for lease in self.leases for each in lease.reservations
                if is_running(lease, each)]

    def over(self) -> dict[str, tuple[str, str | None]]:
        """{id: (lease id, resource type)} of what may have nothing in the cloud any more.

        Those are reservations, and leases all of whose reservations are over, without a type.
        """
        found: dict[str, tuple[str, str | None]] = {}
        for lease in self.leases:
            ended = [each for each in lease.reservations if is_over(lease, each)]
            found |= {each.id: (lease.id, each.resource_type) for each in ended}
            if len(ended) == len(lease.reservations):
                found[lease.id] = (lease.id, None)
        return found


def is_id(text: str) -> bool:
    """True for what may be the id of a reservation."""
    return _ID.fullmatch(text) is not None


def is_moving(lease: records.Lease, now: records.Moment) -> bool:
    """True while something is being done to what a lease has in the cloud, or is due."""
    return lease.task is not None or any(
        event.kind in _MOVES and (
            event.status == lifecycle.EVENT_IN_PROGRESS
            or (event.status == lifecycle.EVENT_UNDONE and event.at <= now))
        for event in lease.events)


def is_over(lease: records.Lease, reservation: records.Reservation) -> bool:
    """True for a reservation that has nothing any more, and never will again."""
    return (lease.deleted_at is not None or lease.state in lifecycle.OVER
            or reservation.state == lifecycle.RESERVATION_DELETED)


def is_running(lease: records.Lease, reservation: records.Reservation) -> bool:
    """True for a reservation that is with its project."""
    return (lease.state == lifecycle.ACTIVE and lease.deleted_at is None
            and reservation.state == lifecycle.RESERVATION_ACTIVE)


def settled(before: Iterable[records.Lease], after: Iterable[records.Lease],
            now: records.Moment) -> tuple[records.Lease, ...]:
    """The leases of `after` that can be compared with what was read of the cloud in between.

    :param before: all leases that were not over; one that is missing was over, or was not there.
    """
    known = {lease.id: lease for lease in before}
    found = []
    for lease in after:
        if is_moving(lease, now):
            continue
        ended = lease.deleted_at is not None or lease.state in lifecycle.OVER
        if known.get(lease.id, lease if ended else None) == lease:
            found.append(lease)
    return tuple(found)


def left_behind(traces: Iterable[Trace], known: Iterable[str],
                over: Mapping[str, tuple[str, str | None]]) -> list[Drift]:
    """What reservations that are over, or that nobody knows any more, have in the cloud.

    :param known: the ids of all reservations and leases in the accounts.
    :param over: those of them that may have nothing, as ``Accounts.over`` has it.
    """
    traces, known, drifts = list(traces), set(known), []
    signers = {trace.made_for: trace.signed_by for trace in traces if trace.signed_by}
    for trace in traces:
        made_for = trace.made_for
        if made_for in over:
            lease_id, resource_type = over[made_for]
            problem = f'its reservation is over (lease {lease_id})'
        elif made_for in signers and made_for not in known:
            problem, resource_type = 'no lease has its reservation', None
        else:
            continue
        name = trace.name.lower().replace('_', '-')
        what = trace.name if made_for in name else f'{trace.name} of {made_for}'
        drifts.append(Drift('left behind', f'{trace.kind} {what}', problem, CLEAR,
                            (resource_type or signers[made_for], made_for)))
    return drifts


def not_ended(traces: Iterable[Trace], leases: Iterable[records.Lease],
              now: records.Moment) -> list[Drift]:
    """The leases whose time is over and whose end was given up, so that the cloud has them yet."""
    made = {trace.made_for for trace in traces}
    return [Drift('not ended', f'lease {lease.id}',
                  f'its end was given up; delete it to have it tried again ({lease.reason})')
            for lease in leases
            if lease.state == lifecycle.ERROR and lease.deleted_at is None and lease.end <= now
            and made & {each.id for each in lease.reservations if not is_over(lease, each)}]


def hunting(*readings: Iterable[records.Lease]) -> set[str]:
    """The ids of the leases for which hosts were being cleared, or taken out of that again."""
    return {lease.id for found in readings for lease in found
            if lease.state == lifecycle.ACQUIRING or any(
                event.kind == agenda.GIVE_BACK and event.status in (
                    lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS)
                for event in lease.events)}


def fences(computes: Iterable[Any], seeking: Iterable[str]) -> list[Drift]:
    """The fences around hosts that are not being cleared (any more).

    :param computes: the compute services, each with host, enabled and the reason why it is not.
    :param seeking: the ids of leases that may be having hosts cleared.
    """
    seeking, drifts = set(seeking), []
    for each in computes:
        reason = each.reason or ''
        lease_id = reason.removeprefix(hunt.FENCE_PREFIX)
        if not each.enabled and lease_id != reason and lease_id not in seeking:
            drifts.append(Drift(
                'fence', f'service of {each.host}',
                f'disabled as if it were being cleared for lease {lease_id}, which it is not',
                UNFENCE, (each.host, lease_id)))
    return drifts


def in_both(first: Iterable[Drift], second: Iterable[Drift]) -> list[Drift]:
    """The drifts of the second look that were there in the first one already."""
    seen = {each.key for each in first}
    return [each for each in second if each.key in seen]


def in_order(drifts: Iterable[Drift]) -> list[Drift]:
    """The drifts in the order in which they are repaired, those for a person at the end."""
    places = list(REPAIRS)
    return sorted(drifts, key=lambda each: (
        places.index(each.repair) if each.repair else len(places), each.kind, each.what))
