# SPDX-License-Identifier: Apache-2.0
"""The verdict on a run: nothing may be lost, doubled or late, by the rows and the answers."""
import collections
import dataclasses

from climate.api import times
from climate.domain import acquire
from climate.domain import event_kinds
from climate.domain import lifecycle

# These are tried again and again from their moment on, until they go well.
_TRIED = (event_kinds.ACQUIRE, event_kinds.HEAL)


@dataclasses.dataclass
class Verdict:
    """Each list in words, one thing a line; all of them empty where all is well."""

    lost: list = dataclasses.field(default_factory=list)
    doubled: list = dataclasses.field(default_factory=list)
    late: list = dataclasses.field(default_factory=list)
    latest_seconds: float = 0
    latest_without_fault_seconds: float = 0


def judge(promises, recorded, faults, recovery_seconds, late_seconds):
    """The Verdict of a run.

    :param late_seconds: how long an event may take without a fault.
    :param recovery_seconds: how long after the begin or the end of a fault its traces last: the
        claim of one who died, a new connection.
    """
    verdict = Verdict()
    _compare(verdict, promises, recorded)
    verdict.doubled += _overlaps([row for row in recorded.allocations if row['whole']])
    verdict.doubled += _overdrawn([row for row in recorded.allocations if not row['whole']],
                                  recorded.capacities)
    verdict.lost += [f'{name} is lent yet' for name in recorded.lent]
    for event in recorded.events:
        _time(verdict, event, faults, recovery_seconds, late_seconds)
    return verdict


def _compare(verdict, promises, recorded):
    """Each answer has its lease, each lease its answer."""
    leases = collections.defaultdict(list)
    started = {event['lease_id'] for event in recorded.events if event['kind'] == event_kinds.START}
    in_vain = {row['lease_id']: row for row in recorded.acquisitions
               if row['type'] in acquire.LASTING and row['lease_id'] not in started}
    for row in recorded.leases:
        leases[row['name']].append(row)
    for promise in promises:
        made = leases.pop(promise.key, [])
        if len(made) > 1 or promise.others:
            verdict.doubled.append(f'{promise.key} made {[row["id"] for row in made]}, '
                                   f'and was answered with {promise.others} too')
        if promise.lease_id is None:
            if made:
                verdict.doubled.append(f'{promise.key} was refused, but there is {made[0]["id"]}')
        elif not made:
            verdict.lost.append(f'{promise.lease_id} is nowhere')
        else:
            wrong = _wrong(promise, made[0], in_vain.get(made[0]['id']))
            if wrong:
                verdict.lost.append(f'{promise.lease_id}: {wrong}')
    verdict.doubled += [f'{rows[0]["id"]}: nobody asked for it' for rows in leases.values()]


def _wrong(promise, row, in_vain):
    """Return the problem of a requested lease at the end, in words, or None.

    :param in_vain: the row of its acquisition, where it was never acquired.
    """
    if row['id'] != promise.lease_id:
        return f'its key is that of {row["id"]}'
    gone = row['deleted_at'] is not None
    if {'yes': not gone, 'no': gone, 'perhaps': False}[promise.deleted]:
        return f'deleted by its owner: {promise.deleted}; deleted at {row["deleted_at"]}'
    if in_vain is not None and not gone and _was_given_up_rightly(row, in_vain):
        return None
    if row['state'] != lifecycle.TERMINATED:
        return f'it is {row["state"]}: {row["reason"]}'
    length = (row['end'] - row['start']).total_seconds()
    by_itself = 'acquire' in promise.body and length == promise.seconds
    if not gone and not by_itself and not _ended_as_asked(promise, times.shown(row['end'])):
        return (f'it ended {times.shown(row["end"])}, and was to end {sorted(promise.ends)}, '
                f'perhaps {sorted(promise.perhaps_ends)}')
    return None


def _was_given_up_rightly(row, in_vain):
    """True where its time had passed, or it was tried as often as was asked for."""
    if in_vain['type'] == acquire.RETRIES:
        return (row['state'] == lifecycle.ERROR
                and in_vain['attempts'] == in_vain['retries'] + 1)
    return row['state'] == lifecycle.TIMEDOUT and row['ended_at'] >= in_vain['not_after']


def _ended_as_asked(promise, end):
    if end in promise.ends or 'now' in promise.perhaps_ends:
        return True
    # An end that is over when its request comes through, but in the minute that runs, means "now".
    second, minute = slice(len('2030-05-01T12:00:00')), slice(len('2030-05-01T12:00'))
    return any(asked[second] <= end[second] and asked[minute] == end[minute]
               for asked in promise.perhaps_ends)


def _overlaps(allocations):
    """Yield whole resources that were allocated twice at a moment, in the whole history."""
    by_host = collections.defaultdict(list)
    for row in allocations:
        end = min(row['end'], row['released_at'] or row['end'])
        if row['start'] < end:
            by_host[row['resource_id']].append((row['start'], end, row['reservation_id']))
    for host, spans in by_host.items():
        spans.sort()
        for place, (start, end, reservation) in enumerate(spans):
            for other_start, other_end, other in spans[place + 1:]:
                if start < other_end and other_start < end:
                    yield (f'resource {host} was allocated to {reservation} {start} to {end}, and '
                           f'to {other} {other_start} to {other_end}')


def _overdrawn(allocations, capacities):
    """Yield shared resources that were allocated beyond their capacity, in the whole history."""
    by_resource = collections.defaultdict(list)
    for row in allocations:
        end = min(row['end'], row['released_at'] or row['end'])
        if row['start'] < end:
            by_resource[row['resource_id']].append((row['start'], end, row))
    for resource, spans in by_resource.items():
        for moment in {start for start, _, _ in spans}:
            taken = collections.Counter()
            for start, end, row in spans:
                if start <= moment < end:
                    taken.update({name: units * row['copies']
                                  for name, units in row['amount'].items()})
            if any(units > capacities[resource].get(name, 0) for name, units in taken.items()):
                yield f'resource {resource} was to give {dict(taken)} at {moment}'


def _time(verdict, event, faults, recovery_seconds, late_seconds):
    """An event that was carried out came no later than the faults explain."""
    if (event['status'] != lifecycle.EVENT_DONE or event['begun_at'] is None
            or event['kind'] in _TRIED):
        return
    due, done = event['at'].timestamp(), event['updated_at'].timestamp()
    lateness = done - due
    near = [fault for fault in faults
            if fault.began <= done and fault.ended + recovery_seconds >= due]
    bare = lateness - _covered(near, due, done)
    verdict.latest_seconds = max(verdict.latest_seconds, lateness)
    if not near:
        verdict.latest_without_fault_seconds = max(verdict.latest_without_fault_seconds, lateness)
    if bare > late_seconds + 2 * recovery_seconds * len(near):
        verdict.late.append(f'{event["kind"]} of {event["lease_id"]}: {lateness:.1f} s late, '
                            f'{bare:.1f} s of it without a fault')


def _covered(faults, begin, end):
    """The seconds from `begin` to `end` in which there was a fault."""
    covered = 0
    for fault in sorted(faults, key=lambda fault: fault.began):
        covered += max(0, min(end, fault.ended) - max(begin, fault.began))
        begin = max(begin, fault.ended)
    return covered
