# SPDX-License-Identifier: Apache-2.0
"""The calls of an enforcement service about a lease: their records and bodies."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import records

#: The kinds of calls: a new lease, a change of a lease, the end of a lease.
CREATE, UPDATE, END = 'create', 'update', 'end'
#: The states of a call. ASKING: the service is being asked, and the lease is not written yet. DUE:
#: the lease is written, and the service is to be called. REPORTED: the service knows the lease as
#: it is in the body; a lease has at most one such call.
ASKING, DUE, REPORTED = 'asking', 'due', 'reported'

#: The units of a resource's capacity that count for a resource class.
_UNITS = {'VCPU': 'vcpus', 'MEMORY_MB': 'memory_mb', 'DISK_GB': 'disk_gb'}
_FIELDS = ('min', 'max', 'hypervisor_properties', 'resource_properties', 'before_end', 'amount',
           'vcpus', 'memory_mb', 'disk_gb', 'affinity')
_FLAVOR = 'flavor:instance'


@dataclasses.dataclass(frozen=True)
class EnforcementCall:
    """The record of a call. `call_id` is the same at every attempt.

    `body` has ``context`` and ``lease`` and, for a change, ``current_lease``. `generation` is that
    of the lease which the body describes. A DUE call is made at `due_at`. `asked` says that its
    owner waits for it: if the service refuses such a call, the lease ends.
    """

    call_id: str
    lease_id: str
    kind: str
    state: str
    body: Mapping[str, Any]
    created_at: datetime.datetime
    due_at: datetime.datetime
    asked: bool = True
    generation: int = 0
    attempts: int = 0
    id: int | None = None

    @property
    def lease(self) -> Mapping[str, Any]:
        lease: Mapping[str, Any] = self.body['lease']
        return lease


@dataclasses.dataclass(frozen=True)
class ReportRules:
    """The parts of a lease that are reported.

    :ivar resource_types: the resource types of the reported reservations.
    :ivar resource_classes: the classes in ``resource_requests``.
    """

    resource_types: frozenset[str]
    resource_classes: tuple[str, ...]

    def reported(self, lease: records.Lease) -> list[records.Reservation]:
        """Return the reservations of a lease that are reported."""
        return [each for each in lease.open_reservations
                if each.resource_type in self.resource_types]


def lease_body(lease: records.Lease, fields: Mapping[str, Mapping[str, Any]],
               allocations: Iterable[records.Allocation],
               resources: Mapping[int, records.Resource], rules: ReportRules) -> dict[str, Any]:
    """Return a lease as an enforcement service reads it.

    :param fields: {reservation id: the fields of the reservation at REST 1.0}.
    :param allocations: the Allocations of the lease.
    :param resources: {id: Resource} of the allocated resources, with properties.
    """
    reservations = rules.reported(lease)
    reported = {each.id for each in reservations}
    counted = [each for each in allocations if each.reservation_id in reported]
    return {
        'id': lease.id, 'name': lease.name, 'user_id': lease.user_id,
        'project_id': lease.project_id, 'start_date': _moment(lease.start),
        'end_date': _moment(lease.end), 'before_end_date': (
            None if lease.before_end is None else _moment(lease.before_end)),
        'reservations': [_reservation(each, fields[each.id], [
            resources[own.resource_id] for own in counted if own.reservation_id == each.id
            for _ in range(own.copies)]) for each in reservations],
        'resource_requests': _requests(counted, resources, rules.resource_classes)}


def with_times(body: Mapping[str, Any], **moments: datetime.datetime) -> dict[str, Any]:
    """Return the body of a lease with another start_date or end_date."""
    return {**body, **{name: _moment(moment) for name, moment in moments.items()}}


def end_of(body: Mapping[str, Any]) -> datetime.datetime:
    """Return the end in the body of a lease."""
    return datetime.datetime.fromisoformat(body['end_date']).replace(tzinfo=datetime.UTC)


def is_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two bodies of a lease have the same times and resources."""
    return all(_charged(one, name) == _charged(other, name)
               for name in ('start_date', 'end_date', 'resource_requests', 'reservations'))


def _charged(body: Mapping[str, Any], name: str) -> Any:
    if name != 'reservations':
        return body[name]
    return sorted((each['id'], sorted(part['id'] for part in each['allocations']))
                  for each in body['reservations'])


def cancelled(calls: Iterable[EnforcementCall], body: Mapping[str, Any]) -> list[EnforcementCall]:
    """Return the calls of a lease that are needless if it gets a body.

    These are the DUE changes, if the lease is restored as the service knows it.
    """
    calls = list(calls)
    restores = any(call.state == REPORTED and is_alike(call.lease, body) for call in calls)
    return [call for call in calls if restores and call.state == DUE and call.kind == UPDATE]


def real_end(lease: records.Lease, deletion_at: datetime.datetime | None) -> datetime.datetime:
    """Return until when a lease that is over used its resources.

    A lease none of whose reservations became active used nothing.

    :param deletion_at: when its deletion was ordered; None: it was not.
    """
    if lease.started_at is None:
        return lease.start
    moments = (lease.end, lease.ended_at or lease.deleted_at, deletion_at)
    return max(lease.start, min(each for each in moments if each is not None))


def _reservation(reservation: records.Reservation, fields: Mapping[str, Any],
                 allocated: list[records.Resource]) -> dict[str, Any]:
    chosen = {name: fields[name] for name in _FIELDS if name in fields}
    if reservation.resource_type == _FLAVOR:
        # The criteria of this type are the whole flavor.
        chosen.pop('resource_properties', None)
        chosen['flavor_id'] = reservation.request.get('flavor_id')
    return {'id': reservation.id, 'resource_type': reservation.resource_type, **chosen,
            'allocations': [{
                'id': str(resource.id), 'hypervisor_hostname': resource.name,
                'vcpus': resource.capacity.get('vcpus', 0), 'extra': dict(resource.properties)}
                for resource in allocated]}


def _requests(allocations: Iterable[records.Allocation],
              resources: Mapping[int, records.Resource],
              classes: Iterable[str]) -> dict[str, int]:
    """Return the sum of each resource class over Allocations."""
    totals = dict.fromkeys(classes, 0)
    for allocation in allocations:
        resource = resources[allocation.resource_id]
        for name in totals:
            totals[name] += allocation.copies * (
                _of_whole(resource, name) if allocation.whole
                else _of_part(allocation.amount, name, totals))
    return totals


def _of_whole(resource: records.Resource, name: str) -> int:
    """Return the units of a resource class that a whole resource has.

    A class without a unit of the capacity is read from the property with its name.
    """
    if name in _UNITS or name in resource.capacity:
        return resource.capacity.get(_UNITS.get(name, name), 0)
    value = resource.properties.get(name, '')
    return int(value) if value.isdecimal() else 0


def _of_part(amount: Mapping[str, int], name: str, classes: Mapping[str, int]) -> int:
    units = amount.get(name, amount.get(_UNITS.get(name, name), 0))
    if name == 'VCPU' and 'PCPU' not in classes:
        # Dedicated processors are counted with the others.
        units += amount.get('PCPU', 0)
    return units


def _moment(moment: datetime.datetime) -> str:
    """Return a moment in UTC in the format of Blazar, without an offset."""
    return moment.astimezone(datetime.UTC).replace(tzinfo=None).isoformat()
