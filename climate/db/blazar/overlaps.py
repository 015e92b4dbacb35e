# SPDX-License-Identifier: Apache-2.0
"""Resources that Blazar allocated to two leases at the same time."""
import collections
import dataclasses

from climate.db.blazar import imported_records
from climate.domain import event_kinds
from climate.domain import interval
from climate.domain import lifecycle


def resolve(leases, resources):
    """Return (the leases, the Overlaps).

    A lease with a resource that an earlier lease has at the same time loses all its resources.

    :param leases: the ImportedLeases, the first created first.
    """
    taken = collections.defaultdict(list)
    kept, overlaps = [], []
    for imported in leases:
        lost = []
        for allocation in imported.allocations:
            span = interval.Interval(allocation.start, allocation.end)
            for other_span, other, other_whole in taken[allocation.resource_id]:
                if span.overlaps(other_span) and (allocation.whole or other_whole):
                    lost.append(imported_records.Overlap(
                        resources[allocation.resource_id].name, max(span.start, other_span.start),
                        min(span.end, other_span.end), other, _named(imported.lease)))
                    break
        if lost:
            overlaps += lost
            imported = _refused(imported, lost)
        for allocation in imported.allocations:
            taken[allocation.resource_id].append((
                interval.Interval(allocation.start, allocation.end), _named(imported.lease),
                allocation.whole))
        kept.append(imported)
    return kept, overlaps


def _refused(imported, overlaps):
    """Return a lease that lost a resource to another lease: in ERROR, without resources."""
    lease = imported.lease
    names = ', '.join(sorted({overlap.resource for overlap in overlaps}))
    reason = (f'Blazar had allocated {names} to lease {overlaps[0].kept[0]} at the same time, '
              'which was created first and keeps it. Create this lease again.')
    # The fingerprint depends on the reason, so that a later import writes this lease again if the
    # other lease does not overlap any more.
    return dataclasses.replace(
        imported, allocations=(),
        fingerprint=imported_records.fingerprint(f'{imported.fingerprint} {reason}'),
        lease=dataclasses.replace(
            lease, state=lifecycle.ERROR, reason=reason,
            owner_reason='Blazar had allocated some of its resources to another lease at the same '
                         'time. Create this lease again.',
            events=tuple(event for event in lease.events if event.kind == event_kinds.END)))


def _named(lease):
    return lease.id, lease.name, lease.project_id
