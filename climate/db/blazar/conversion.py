# SPDX-License-Identifier: Apache-2.0
"""The conversion of a database of Blazar to records of Climate. Pure.

Ids, names, owners, trusts, dates and the objects in the cloud stay as they are. A Problem describes
an object that cannot be imported unchanged.
"""
import collections
import json
import uuid

from climate.db.blazar import enrolled
from climate.db.blazar import imported_records
from climate.db.blazar import lease_status
from climate.db.blazar import overlaps
from climate.db.blazar import requests
from climate.db.blazar import times
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import requirement

_RESERVATION_STATES = {
    'pending': lifecycle.RESERVATION_PENDING, 'active': lifecycle.RESERVATION_ACTIVE,
    'deleted': lifecycle.RESERVATION_DELETED, 'error': lifecycle.RESERVATION_ERROR}
_IN_THE_CLOUD = (lifecycle.RESERVATION_ACTIVE, lifecycle.RESERVATION_ERROR)
_EVENT_STATUSES = {'DONE': lifecycle.EVENT_DONE, 'ERROR': lifecycle.EVENT_ERROR}
_EVENTS = (event_kinds.START, event_kinds.BEFORE_END, event_kinds.END)
#: The events that a lease of a state needs.
_NEEDED = {lifecycle.PENDING: (event_kinds.START, event_kinds.END),
           lifecycle.ACTIVE: (event_kinds.END,), lifecycle.ERROR: (event_kinds.END,)}
_NAME_LENGTH = 80
_CREATE_AGAIN = 'Delete it in Blazar, or create it again in Climate.'


def convert(source, registry, now):
    """Return the ``imported_records.Conversion`` of a ``source.Source``.

    :param registry: the Registry of the enabled plugins.
    :param now: the present moment.
    """
    return _Conversion(source, registry, now).run()


class _Conversion:

    def __init__(self, source, registry, now):
        self._source, self._plugins, self._now = source, registry.plugins, now
        self._problems = []
        self._requests = requests.Requests(source, registry, self._problems)
        self._hosts = source.grouped('computehost_allocations', 'reservation_id')
        self._addresses = source.grouped('floatingip_allocations', 'reservation_id')
        self._enrolled = enrolled.Enrolled(source, registry.pools, self._problems)

    def run(self):
        reservations = self._source.grouped('reservations', 'lease_id')
        events = self._source.grouped('events', 'lease_id')
        leases = [self._lease(row, sorted(reservations[row['id']], key=_made_first),
                              events[row['id']])
                  for row in sorted(self._source.rows('leases'), key=_made_first)]
        leases, lost = overlaps.resolve(
            [lease for lease in leases if lease is not None], self._enrolled.resources)
        for name in self._source.others:
            self._problems.append(imported_records.Problem(
                f'table {name}', 'Climate has no such resources.', 'Its rows are left out.'))
        return imported_records.Conversion(
            tuple(self._enrolled.resources.values()), tuple(leases), tuple(lost),
            tuple(self._problems))

    def _lease(self, row, reservation_rows, event_rows):
        """Return an ImportedLease, or None if the lease is left out."""
        what = f'lease {row["id"]} ({row["name"]}) of project {row["project_id"]}'
        state, row = lease_status.state(row, reservation_rows), times.with_length(row)
        why = lease_status.why_not(row, reservation_rows, state)
        if why is not None:
            return self._leave_out(what, why, _CREATE_AGAIN)
        parts = [self._reservation(what, row, reservation, state)
                 for reservation in reservation_rows]
        if None in parts:
            return None
        over = state == lifecycle.TERMINATED
        events = self._events(row, event_rows, state)
        updated_at = times.moment(row['updated_at'])
        lease = records.Lease(
            id=row['id'], name=self._name(what, row['name']), project_id=row['project_id'],
            user_id=row['user_id'], start=times.moment(row['start_date']),
            end=self._end(what, row), trust_id=row['trust_id'] or None, state=state,
            degraded=bool(row['degraded']),
            before_end=next((event.at for event in events
                             if event.kind == event_kinds.BEFORE_END), None),
            reason='It was in ERROR in Blazar.' if state == lifecycle.ERROR else None,
            created_at=times.moment(row['created_at']) or self._now, updated_at=updated_at,
            ended_at=(updated_at or times.moment(row['end_date'])) if over else None,
            reservations=tuple(reservation for reservation, _ in parts), events=events)
        allocations = tuple(allocation for _, own in parts for allocation in own)
        facts = json.dumps([row, reservation_rows, event_rows, [
            (allocation.resource_id, allocation.copies) for allocation in allocations]],
            default=str, sort_keys=True)
        return imported_records.ImportedLease(
            lease, allocations, imported_records.fingerprint(facts))

    def _leave_out(self, what, why, advice):
        self._problems.append(imported_records.Problem(
            what, why, imported_records.LEFT_OUT, advice))

    def _name(self, what, name):
        """Return the name of a lease without the letters that Climate refuses."""
        clean = ''.join(letter if letter.isprintable() else ' ' for letter in name or '').strip()
        clean = clean[:_NAME_LENGTH] or 'imported'
        if clean != name:
            self._problems.append(imported_records.Problem(
                what, 'Climate does not accept its name.', f'It is called "{clean}".'))
        return clean

    def _end(self, what, row):
        end = times.moment(row['end_date'])
        if end == times.LATEST:
            self._problems.append(imported_records.Problem(
                what, f'Its end is {row["end_date"]}.', f'It ends {end:%Y-%m-%d %H:%M} UTC.'))
        return end

    def _events(self, row, event_rows, state):
        """Return the Events of a lease; add the start and the end if they are missing."""
        known = [event for event in event_rows
                 if event['event_type'] in _EVENTS and times.moment(event['time']) is not None]
        present = {event['event_type'] for event in known}
        missing = [kind for kind in _NEEDED.get(state, ()) if kind not in present]
        # Blazar writes the events last. If it crashed before that, no user knows the lease.
        ends_now = row['status'] == 'DELETING' or (
            row['status'] == 'CREATING' and event_kinds.START in missing)
        added = [{
            'id': str(uuid.uuid5(uuid.NAMESPACE_OID, f'{row["id"]}/{kind}')), 'event_type': kind,
            'time': row['start_date' if kind == event_kinds.START else 'end_date'],
            'status': 'UNDONE', 'created_at': None} for kind in missing]
        events = [self._event(row, event, state, ends_now) for event in sorted(
            [*known, *added], key=lambda event: (times.moment(event['time']), event['id']))]
        if state == lifecycle.PENDING:
            # Blazar has created the objects of the lease in the cloud, as this event does. Because
            # of it, an end of the lease before its start deletes them.
            created = times.moment(row['created_at']) or self._now
            events.append(records.Event(
                str(uuid.uuid5(uuid.NAMESPACE_OID, f'{row["id"]}/{event_kinds.STAGE}')), row['id'],
                event_kinds.STAGE, created, created, lifecycle.EVENT_DONE, claim_no=1,
                created_at=self._now))
        return tuple(events)

    def _event(self, lease, row, state, ends_now):
        at, kind = times.moment(row['time']), row['event_type']
        status = _EVENT_STATUSES.get(row['status'], lifecycle.EVENT_UNDONE)
        if state == lifecycle.TERMINATED:
            status = lifecycle.EVENT_DONE
        elif kind == event_kinds.END:
            # A lease that still holds resources must end, even after an error.
            status = lifecycle.EVENT_UNDONE
        return records.Event(
            row['id'], lease['id'], kind, at,
            self._now if ends_now and kind == event_kinds.END else at, status,
            created_at=times.moment(row['created_at']) or self._now)

    def _reservation(self, what, lease, row, lease_state):
        """Return (the Reservation, its Allocations); None if the lease is left out."""
        knows = self._requests.knows(row['resource_type'])
        if row['resource_type'] not in self._plugins or not knows:
            return self._leave_out(
                what, f'Climate does not lease the type {row["resource_type"]} here.',
                '[DEFAULT] plugins lists the types that it leases.' if knows
                else 'Let it end in Blazar before the switch.')
        try:
            request, binding, needs = self._requests.of(what, row)
        except requests.Unusable as error:
            return self._leave_out(what, f'Reservation {row["id"]}: {error}', _CREATE_AGAIN)
        if lease_state != lifecycle.TERMINATED:
            self._check_criteria(what, needs)
        state = (lifecycle.RESERVATION_DELETED if lease_state == lifecycle.TERMINATED
                 else _RESERVATION_STATES.get(row['status'], lifecycle.RESERVATION_PENDING))
        if state not in _IN_THE_CLOUD:
            binding = {name: value for name, value in binding.items() if name == 'server_group_id'}
        reservation = records.Reservation(
            row['id'], lease['id'], row['resource_type'], request, binding, state,
            missing_resources=bool(row['missing_resources']),
            resources_changed=bool(row['resources_changed']),
            created_at=times.moment(row['created_at']) or self._now,
            updated_at=times.moment(row['updated_at']))
        return reservation, () if state == lifecycle.RESERVATION_DELETED else tuple(
            self._allocations(what, lease, reservation, needs))

    def _check_criteria(self, what, needs):
        """Add a Problem for each property in the criteria of Needs that is left out."""
        names = {name for need in needs for name in requirement.names(need.requirement)}
        self._problems += [imported_records.Problem(
            what, f'Its criteria use the property "{name}", which is left out.',
            'It is imported and keeps its hosts, but Climate finds no other hosts for it.',
            'Change its criteria in Climate if it needs other hosts, or other dates before its '
            'start.') for name in sorted(names & self._enrolled.lost_names)]

    def _allocations(self, what, lease, reservation, needs):
        """Yield the Allocations of a reservation, with (pool, id in Blazar) as resource_id."""
        for resource, copies in sorted(self._resources(reservation.id).items(), key=str):
            if resource not in self._enrolled.resources:
                self._problems.append(imported_records.Problem(
                    what, f'It has {resource[0]} {resource[1]}, which is not imported.',
                    'It is imported without it.'))
                continue
            # If there are two needs, the first is for the addresses that the request names.
            kept = reservation.request.get('kept_floatingips', ())
            is_named = self._enrolled.resources[resource].facts.get('address') in kept
            need = needs[0] if is_named or len(needs) == 1 else needs[1]
            whole = not isinstance(need.demand.amount, dict)
            yield records.Allocation(
                reservation.id, resource, times.moment(lease['start_date']),
                times.moment(lease['end_date']), whole=whole,
                amount={} if whole else dict(need.demand.amount), copies=1 if whole else copies,
                need=need.key, lease_id=lease['id'])

    def _resources(self, reservation_id):
        """Return a Counter of the resources of a reservation, as (pool, id in Blazar)."""
        hosts = (row['compute_host_id'] for row in self._hosts[reservation_id])
        addresses = (row['floatingip_id'] for row in self._addresses[reservation_id])
        return collections.Counter([
            *((imported_records.HOST, self._enrolled.same_host.get(host, host)) for host in hosts),
            *((imported_records.ADDRESS, address) for address in addresses)])


def _made_first(row):
    return str(row['created_at'] or ''), row['id']
