# SPDX-License-Identifier: Apache-2.0
"""The rules of an audit: what may be compared, and how a difference is reported and repaired."""
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import re

from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records

_ID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')

#: The kinds of Drifts.
KINDS = ('left behind', 'held', 'freepool', 'incomplete', 'not enrolled', 'trust', 'not ended',
         'foreign host', 'foreign server', 'filter', 'unknown host', 'shared host', 'unfit',
         'disabled', 'lent')

# {repair: what it does, in words}, in the order in which the repairs are carried out.
CLEAR = 'clear'
RELEASE = 'release'
MEND = 'mend'
COMPLETE = 'complete'
ENROL = 'enrol'
DROP_TRUST = 'drop trust'
ENABLE = 'enable'
RETURN = 'return'
DELETE_EARLY = 'delete early'
REPAIRS = {
    CLEAR: 'removes it',
    RELEASE: 'releases it in the database',
    MEND: 'puts it back, if it is empty',
    COMPLETE: 'adds what is missing',
    ENROL: 'enrols it, if it is empty',
    DROP_TRUST: 'drops it',
    ENABLE: 'enables it',
    RETURN: 'returns it to its lender, if it is empty',
    DELETE_EARLY: 'deletes it',
}
#: The maximum number of stored findings of an audit.
MOST_SHOWN = 500
BY_HAND = 'nothing: a person must decide'
UNKNOWN = 'nothing, because it may belong to another Climate; with --unknown: '


@dataclasses.dataclass(frozen=True)
class Trace:
    """An object in the cloud that was created for a reservation.

    :ivar made_for: the id of the reservation, or of its lease if the object has no other id.
    :ivar kind: a noun for the object, such as 'flavor'.
    :ivar name: its name in the cloud.
    :ivar signed_by: the resource type in the mark that Climate puts on its objects. The mark proves
        that Climate created all objects of the reservation, even if the database has no record of
        the reservation.
    """

    made_for: str
    kind: str
    name: str
    signed_by: str | None = None


@dataclasses.dataclass(frozen=True)
class Disabled:
    """A service that a pool has disabled to clear its host for a lease.

    :ivar name: the name of the service in the pool.
    :ivar what: the service, in words.
    """

    pool: str
    name: str
    what: str
    lease_id: str


@dataclasses.dataclass(frozen=True)
class Drift:
    """A difference between the cloud and the database.

    :ivar kind: one of KINDS, for metrics.
    :ivar what: the object, in words.
    :ivar problem: what is wrong with it, in words.
    :ivar repair: the key of the repair in REPAIRS; None if a person must act.
    :ivar target: the object of the repair. CLEAR has (resource type, `made_for` of the Trace), MEND
        and ENROL have (pool, name), ENABLE has (pool, name, id of the lease), DROP_TRUST has the id
        of a RecordedTrust. Other repairs have the id of a reservation or server.
    :ivar unknown: this database has no record of the object. Another Climate or another service may
        have created it, so only an administrator can order the repair.
    """

    kind: str
    what: str
    problem: str
    repair: str | None = None
    target: str | tuple[str, ...] | None = None
    unknown: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Return the key by which the same drift is found in another comparison."""
        return self.kind, self.what

    @property
    def remedy(self) -> str:
        """Return the effect of the repair, in words."""
        if self.repair is None:
            return BY_HAND
        return f'{UNKNOWN if self.unknown else ""}{REPAIRS[self.repair]}'


@dataclasses.dataclass(frozen=True)
class AuditFinding:
    """A Drift in words, for people."""

    kind: str
    what: str
    problem: str
    remedy: str


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of an audit by a manager.

    :ivar finding_count: the number of confirmed Drifts that were not repaired.
    :ivar findings: the first MOST_SHOWN of these Drifts.
    """

    at: records.Moment
    manager_id: str
    finding_count: int
    findings: tuple[AuditFinding, ...]


def result(at: records.Moment, manager_id: str, drifts: Collection[Drift]) -> Result:
    """Return the Result of an audit that did not repair these Drifts."""
    return Result(at, manager_id, len(drifts), tuple(
        AuditFinding(drift.kind, drift.what, drift.problem, drift.remedy)
        for drift in in_order(drifts)[:MOST_SHOWN]))


@dataclasses.dataclass(frozen=True)
class Recorded:
    """The part of the database that can be compared with the cloud.

    :ivar leases: the leases that did not change while the cloud was read, and have no due change.
    :ivar resources: {pool: the enrolled resources that did not change while the cloud was read}.
    :ivar enrolled: {pool: names of all resources enrolled before or after the cloud was read}.
    """

    leases: tuple[records.Lease, ...]
    resources: Mapping[str, tuple[records.Resource, ...]]
    enrolled: Mapping[str, frozenset[str]]

    def running(self) -> list[tuple[records.Lease, records.Reservation]]:
        """Return the running reservations, each with its lease, as [(Lease, Reservation)]."""
        return [(lease, reservation) for lease in self.leases
                for reservation in lease.reservations if is_running(lease, reservation)]

    def over(self) -> dict[str, tuple[str, str | None]]:
        """Return the reservations and leases that must have no objects in the cloud any more.

        :returns: {reservation id: (lease id, resource type)} of ended reservations, and
            {lease id: (lease id, None)} of leases all of whose reservations have ended.
        """
        ids: dict[str, tuple[str, str | None]] = {}
        for lease in self.leases:
            ended = [reservation for reservation in lease.reservations
                     if is_over(lease, reservation)]
            ids |= {reservation.id: (lease.id, reservation.resource_type) for reservation in ended}
            if len(ended) == len(lease.reservations):
                ids[lease.id] = (lease.id, None)
        return ids


def is_id(text: str) -> bool:
    """Return whether a text looks like the id of a reservation."""
    return _ID.fullmatch(text) is not None


def is_moving(lease: records.Lease, now: records.Moment) -> bool:
    """Return whether a change of the objects of a lease in the cloud is due or in progress.

    A failed end that waits for its next try does not count.
    """
    return lease.task is not None or any(
        event_kinds.of(event.kind).moves_cloud and (
            event.status == lifecycle.EVENT_IN_PROGRESS
            or (event.status == lifecycle.EVENT_UNDONE and event.at <= now
                and not due_events.awaits_retry(lease, event)))
        for event in lease.events)


def is_over(lease: records.Lease, reservation: records.Reservation) -> bool:
    """Return whether a reservation is over: it has no resources and will get none."""
    return (lease.deleted_at is not None or lease.state in lifecycle.OVER
            or reservation.state == lifecycle.RESERVATION_DELETED)


def is_running(lease: records.Lease, reservation: records.Reservation) -> bool:
    """Return whether the project has the resources of a reservation now."""
    return (lease.state == lifecycle.ACTIVE and lease.deleted_at is None
            and reservation.state == lifecycle.RESERVATION_ACTIVE)


def comparable(before: Iterable[records.Lease], after: Iterable[records.Lease],
               now: records.Moment) -> tuple[records.Lease, ...]:
    """Return the leases that can be compared, because they did not change while the cloud was read.

    :param before: all leases that were not over before the cloud was read. A lease that is missing
        here was over or did not exist.
    :param after: the leases, read after the cloud.
    """
    earlier = {lease.id: lease for lease in before}
    unchanged = []
    for lease in after:
        if is_moving(lease, now):
            continue
        ended = lease.deleted_at is not None or lease.state in lifecycle.OVER
        if earlier.get(lease.id, lease if ended else None) == lease:
            unchanged.append(lease)
    return tuple(unchanged)


def left_behind(traces: Iterable[Trace], known: Iterable[str],
                over: Mapping[str, tuple[str, str | None]]) -> list[Drift]:
    """Return the objects in the cloud whose reservation is over or unknown, as Drifts.

    :param known: the ids of all reservations and leases in the database.
    :param over: the ended reservations and leases, from ``Recorded.over``.
    """
    traces, known, drifts = list(traces), set(known), []
    signers = {trace.made_for: trace.signed_by for trace in traces if trace.signed_by}
    for trace in traces:
        made_for = trace.made_for
        unknown = made_for not in known
        lease_id, resource_type = over.get(made_for, (None, None))
        resource_type = resource_type or signers.get(made_for)
        if resource_type is None or (lease_id is None and not unknown):
            # The object is in use, or it has no mark, so any user may have written the id on it.
            continue
        problem = ('its reservation is not in this database' if lease_id is None
                   else f'its reservation is over (lease {lease_id})')
        name = trace.name.lower().replace('_', '-')
        what = trace.name if made_for in name else f'{trace.name} of {made_for}'
        drifts.append(Drift('left behind', f'{trace.kind} {what}', problem, CLEAR,
                            (resource_type, made_for), unknown))
    return drifts


def not_ended(traces: Iterable[Trace], leases: Iterable[records.Lease],
              now: records.Moment) -> list[Drift]:
    """Return the leases past their end whose end event was given up, as Drifts."""
    made_for = {trace.made_for for trace in traces}
    return [Drift('not ended', f'lease {lease.id}',
                  f'its end failed; delete the lease to try again at once ({lease.reason})')
            for lease in leases
            if lease.state == lifecycle.ERROR and lease.deleted_at is None and lease.end <= now
            and made_for & {reservation.id for reservation in lease.reservations
                            if not is_over(lease, reservation)}]


def clearing_ids(*readings: Iterable[records.Lease]) -> set[str]:
    """Return the ids of the leases for which hosts are being cleared or released."""
    return {lease.id for leases in readings for lease in leases
            if lease.state == lifecycle.ACQUIRING or any(
                event.kind == event_kinds.GIVE_BACK and event.status in (
                    lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS)
                for event in lease.events)}


def disabled_needlessly(disabled: Iterable[Disabled], seeking: Iterable[str],
                        known: Iterable[str]) -> list[Drift]:
    """Return the services that are disabled for a lease that clears nothing, as Drifts.

    :param seeking: the ids of leases for which hosts may be cleared.
    :param known: the ids of the leases of `disabled` that are in the database.
    """
    seeking, known = set(seeking), set(known)
    return [Drift('disabled', service.what, (
                f'disabled to clear its host for lease {service.lease_id}, but no host is cleared '
                'for that lease'), ENABLE, (service.pool, service.name, service.lease_id),
                  service.lease_id not in known)
            for service in disabled if service.lease_id not in seeking]


def in_both(first: Iterable[Drift], second: Iterable[Drift]) -> list[Drift]:
    """Return the drifts of the second comparison that the first one found too."""
    seen = {drift.key for drift in first}
    return [drift for drift in second if drift.key in seen]


def in_order(drifts: Iterable[Drift]) -> list[Drift]:
    """Return the drifts in the order of their repairs; drifts without a repair come last."""
    order = [*REPAIRS, None]
    return sorted(drifts, key=lambda drift: (order.index(drift.repair), drift.kind, drift.what))
