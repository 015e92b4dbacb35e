# SPDX-License-Identifier: Apache-2.0
"""Requests for volumes: their fields, their checks, and their stored form."""
import re

from climate import errors
from climate.domain import lifecycle
from climate.domain import requirement
from climate.plugins import criteria
from climate.plugins.volume import names
from climate.plugins.volume import quotas

#: The values of `give`: volumes that are made at the start, or a type that the owner fills.
VOLUMES, TYPE = GIVEN = ('volumes', 'type')
#: The values of `on_end` for room, and for a volume that exists.
DELETE, IMAGE, RETYPE, SNAPSHOT, KEEP = 'delete', 'image', 'retype', 'snapshot', 'keep'
OF_ROOM = (IMAGE, RETYPE, DELETE)
OF_EXISTING = (KEEP, SNAPSHOT, IMAGE)

#: JSON schemas of the fields of a request.
PROPERTIES = {
    'size_gb': {'description': 'Of each volume; with "give": "type", of each part of the room.',
                'type': ['integer', 'null'], 'minimum': 1, 'maximum': 10000000},
    'amount': {'description': 'How many volumes or parts; 1 if it is left out.',
               'type': ['integer', 'null'], 'minimum': 1, 'maximum': 1000},
    'give': {'description': 'volumes: they are made at the start. type: a private volume type '
                            'with a quota, of which you make volumes yourself.',
             'enum': [*GIVEN, None]},
    'resource_properties': criteria.SCHEMA,
    'resource_id': {'description': 'The id of an existing volume, which is leased for the span.',
                    'type': ['string', 'null'], 'pattern': '^[A-Za-z0-9-]+$', 'maxLength': 64},
    'attach': {'description': 'Whether the volumes are attached at the start to the leased servers '
                              'that "depends_on" names.', 'type': ['boolean', 'null']},
    'on_end': {'description': 'What becomes of the volumes at the end. image: each is saved as an '
                              'image and deleted. retype: they get the type "volume_type" and '
                              'stay. delete: they are deleted. For an existing volume, which '
                              'always stays: keep, or a copy as snapshot or image. null: as the '
                              'cloud has it.',
               'enum': [IMAGE, RETYPE, DELETE, SNAPSHOT, KEEP, None]},
    'volume_type': {'description': 'The public volume type for "on_end": "retype".',
                    'type': ['string', 'null'], 'minLength': 1, 'maxLength': 255},
}
_OF_ROOM_ONLY = ('size_gb', 'amount', 'give', 'resource_properties', 'volume_type')
_KEPT_WHILE_IT_RUNS = ('size_gb', 'give', 'resource_properties', 'attach')
# The id of a volume as Cinder writes it; other text could be a part of a URL.
_VOLUME_ID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
# The statuses of a volume that can be leased.
_LEASABLE = ('available', 'in-use', 'reserved')


def resolve(options, cloud, request, occasion):
    """Return the request with all fields, checked against the cloud.

    :param options: the group [virtual:volume] of the configuration.
    :raises BadField: a field is wrong, or contradicts another.
    :raises LimitReached: a quota is too small.
    :raises Conflict: the reservation runs and a field cannot change.
    """
    found = {**dict.fromkeys(PROPERTIES), **request, 'attach': bool(request.get('attach'))}
    if found['resource_id'] is not None:
        return _existing(cloud, found, occasion)
    if occasion.before is not None and occasion.before.request['resource_id'] is not None:
        raise errors.BadField(field='resource_id', reason=(
            'a reservation keeps its volume; make another lease for other room.'))
    return _room(options, cloud, found, occasion)


def room_gb(request):
    """Return the gigabytes that a resolved request for room needs."""
    return request['size_gb'] * request['amount']


def _room(options, cloud, found, occasion):
    if found['size_gb'] is None:
        raise errors.BadField(field='size_gb', reason=(
            'it is needed, in GB; or give resource_id, the id of an existing volume.'))
    found['give'] = found['give'] or VOLUMES
    found['on_end'] = _one_of(found['on_end'] or options.on_end, OF_ROOM, (
        'leased room ends with the lease, and a snapshot would take it further'))
    found['resource_properties'] = criteria.as_text(found['resource_properties'])
    requirement.parse(found['resource_properties'])
    if found['give'] == TYPE and found['attach']:
        raise errors.BadField(field='attach', reason=(
            'with "give": "type" there is no volume to attach at the start.'))
    found['amount'] = found['amount'] or 1
    _check_type(options, cloud, found)
    _refuse_while_it_runs(occasion.before, found)
    _refuse_to_drop_volumes(cloud, found, occasion)
    _check_quotas(cloud, found, occasion)
    return found


def _existing(cloud, found, occasion):
    mixed = [name for name in _OF_ROOM_ONLY if found[name] not in (None, '')]
    if mixed:
        raise errors.BadField(field=', '.join(mixed), reason=(
            'these ask for new room, and resource_id for an existing volume: ask for one or the '
            'other.'))
    found['on_end'] = _one_of(found['on_end'] or KEEP, OF_EXISTING, (
        'an existing volume stays with its owner'))
    before = occasion.before
    if before is not None and before.request['resource_id'] != found['resource_id']:
        raise errors.BadField(field='resource_id', reason=(
            'a reservation keeps what it leases; make another lease for another volume.'))
    if before is None:
        volume = _find(cloud, found['resource_id'], occasion.project_id)
        if volume.status not in _LEASABLE:
            raise errors.BadField(field='resource_id', reason=(
                f'volume {volume.id} is in the status "{volume.status}"; it must be available or '
                'in use.'))
        if volume.type_name.startswith(names.TYPE_PREFIX):
            raise errors.BadField(field='resource_id', reason=(
                f'volume {volume.id} belongs to a lease already, and ends with it.'))
        if found['attach'] and volume.server_ids:
            raise errors.BadField(field='attach', reason=(
                f'volume {volume.id} is attached to a server; detach it first.'))
        if found['on_end'] == SNAPSHOT:
            _refuse_full_quota(cloud, occasion, 'on_end',
                               {'snapshots': 1, 'gigabytes': volume.size_gb})
    else:
        _refuse_while_it_runs(before, found)
    return found


def _find(cloud, volume_id, project_id):
    volume = None
    if _VOLUME_ID.fullmatch(volume_id):
        volume = cloud.as_service().volumes.volume(volume_id)
    if volume is None or volume.project_id != project_id:
        raise errors.BadField(field='resource_id', reason=(
            f'there is no volume "{volume_id}" in this project; "openstack volume list" has the '
            'ids.'))
    return volume


def _one_of(value, known, why_not):
    if value not in known:
        raise errors.BadField(field='on_end', reason=(
            f'"{value}" is not possible here, because {why_not}; known are: '
            f'{", ".join(known)}.'))
    return value


def _check_type(options, cloud, found):
    if found['on_end'] != RETYPE:
        if found['volume_type'] is not None:
            raise errors.BadField(field='volume_type', reason=(
                'it goes with "on_end": "retype" only; leave it out.'))
        return
    found['volume_type'] = found['volume_type'] or options.ordinary_type or None
    if found['volume_type'] is None:
        raise errors.BadField(field='volume_type', reason=(
            'it is needed for "on_end": "retype": the type that the volumes become.'))
    public = sorted(each.name for each in cloud.as_service().volumes.types() if each.is_public)
    if found['volume_type'] not in public:
        raise errors.BadField(field='volume_type', reason=(
            f'there is no public volume type "{found["volume_type"]}"; public are: '
            f'{", ".join(public[:20]) or "none"}.'))


def _refuse_while_it_runs(before, found):
    if before is None or before.state == lifecycle.RESERVATION_PENDING:
        return
    changed = [name for name in _KEPT_WHILE_IT_RUNS if found[name] != before.request[name]]
    if changed:
        raise errors.Conflict(reason=(
            f'{", ".join(changed)}: cannot change while the reservation is {before.state}. The '
            'dates can, and the amount; for anything else make another lease.'))


def _refuse_to_drop_volumes(cloud, found, occasion):
    """Refuse a smaller amount than there are volumes: only the owner knows which may go."""
    before = occasion.before
    if before is None or found['amount'] >= before.request['amount']:
        return
    there = names.volumes_of(cloud.as_service().volumes, before.id, occasion.project_id)
    if found['give'] == TYPE:
        used, left, unit = sum(each.size_gb for each in there), room_gb(found), 'GB of volumes'
    else:
        used, left, unit = len(there), found['amount'], 'volumes'
    if used > left:
        raise errors.Conflict(reason=(
            f'amount: the reservation has {used} {unit}, and would have room for {left}. Delete '
            'those that you do not need, then try again.'))


def _check_quotas(cloud, found, occasion):
    had, count = 0, 0
    before = occasion.before
    if before is not None and before.state != lifecycle.RESERVATION_PENDING:
        had, count = room_gb(before.request), before.request['amount']
    if found['give'] == TYPE:
        # How many volumes the owner makes is not known.
        more = quotas.needed(room_gb(found) - had, 0 if count else 1)
    else:
        more = quotas.needed(room_gb(found) - had, found['amount'] - count)
        if found['on_end'] == RETYPE:
            more |= {f'{name}_{found["volume_type"]}': amount for name, amount in more.items()}
    _refuse_full_quota(cloud, occasion, 'size_gb', more)


def _refuse_full_quota(cloud, occasion, field, more):
    problem = quotas.refusal(cloud.as_service().volumes.quotas(occasion.project_id), more)
    if problem is not None:
        name, reason = problem
        raise errors.LimitReached(limit=f'cinder.{name}', reason=f'{field}: {reason}')
