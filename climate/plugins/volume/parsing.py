# SPDX-License-Identifier: Apache-2.0
"""Requests for volumes: their fields, their checks, and their stored form."""
from climate import errors
from climate.domain import audit
from climate.domain import lifecycle
from climate.domain import requirement
from climate.plugins import quotas
from climate.plugins import request_fields
from climate.plugins.volume import names

#: The values of `give`: volumes that Climate creates at the start, or a volume type with which the
#: owner creates volumes.
VOLUMES, TYPE = GIVEN = ('volumes', 'type')
#: The values of `on_end` for new volumes, and for an existing volume.
DELETE, IMAGE, RETYPE, SNAPSHOT, KEEP = 'delete', 'image', 'retype', 'snapshot', 'keep'
OF_NEW = (IMAGE, RETYPE, DELETE)
OF_EXISTING = (KEEP, SNAPSHOT, IMAGE)
#: The result of ``ResourcePlugin.needs_owner`` for requests with "attach".
ATTACHED_AS_OWNER = ('attach', 'volumes are attached to your servers with your rights')

#: JSON schemas of the fields of a request.
PROPERTIES = {
    'size_gb': {'description': 'The size of each volume; with "give": "type", of each part of the '
                               'capacity.',
                'type': ['integer', 'null'], 'minimum': 1, 'maximum': 10000000},
    'amount': {'description': 'The number of volumes or parts. Default: 1.',
               'type': ['integer', 'null'], 'minimum': 1, 'maximum': 1000},
    'give': {'description': 'volumes: they are created at the start. type: a private volume type '
                            'with a quota, with which you create volumes yourself.',
             'enum': [*GIVEN, None]},
    'resource_properties': request_fields.CRITERIA,
    'resource_id': {'description': 'The id of an existing volume, which is leased.',
                    'type': ['string', 'null'], 'pattern': '^[A-Za-z0-9-]+$', 'maxLength': 64},
    'attach': {'description': 'Whether the volumes are attached at the start to the leased servers '
                              'that "depends_on" names.', 'type': ['boolean', 'null']},
    'on_end': {'description': 'What happens to the volumes at the end. New volumes: image: each is '
                              'saved as an image and deleted; retype: they get the type '
                              '"volume_type" and stay; delete: they are deleted; null: the default '
                              'of the cloud. An existing volume always stays. snapshot, image: it '
                              'is copied; keep, null: it is not.',
               'enum': [IMAGE, RETYPE, DELETE, SNAPSHOT, KEEP, None]},
    'volume_type': {'description': 'The public volume type for "on_end": "retype".',
                    'type': ['string', 'null'], 'minLength': 1, 'maxLength': 255},
}
_OF_NEW_ONLY = ('size_gb', 'amount', 'give', 'resource_properties', 'volume_type')
_KEPT_WHILE_IT_RUNS = ('size_gb', 'give', 'resource_properties', 'attach')
# The statuses of a volume that can be leased.
_LEASABLE = ('available', 'in-use', 'reserved')


def resolve_new(options, cloud, request, occasion):
    """Return a request for new volumes with all fields, checked against the cloud.

    :param options: the group [virtual:volume] of the configuration.
    :raises BadField: a field is wrong, or two fields contradict each other.
    :raises LimitReached: a quota is too small.
    :raises Conflict: the reservation runs and a field cannot change.
    """
    resolved, before = _with_all_fields(request), occasion.before
    if before is not None and before.request['resource_id'] is not None:
        raise errors.BadField(field='resource_id', reason=(
            'a reservation keeps its volume; make another lease for new volumes.'))
    if resolved['size_gb'] is None:
        raise errors.BadField(field='size_gb', reason=(
            'it is needed, in GB; or give resource_id, the id of an existing volume.'))
    resolved |= {
        'give': resolved['give'] or VOLUMES, 'amount': resolved['amount'] or 1,
        'on_end': _checked_end(resolved['on_end'] or options.on_end, OF_NEW, (
            'the capacity is returned at the end of the lease, and a snapshot would need it '
            'longer')),
        'resource_properties': request_fields.criteria_text(resolved['resource_properties'])}
    requirement.parse(resolved['resource_properties'])
    if resolved['give'] == TYPE and resolved['attach']:
        raise errors.BadField(field='attach', reason=(
            'with "give": "type" there is no volume to attach at the start.'))
    _check_type(options, cloud, resolved)
    request_fields.refuse_while_it_runs(before, resolved, _KEPT_WHILE_IT_RUNS)
    _refuse_to_drop_volumes(cloud, resolved, occasion)
    _check_quotas(cloud, resolved, occasion)
    return resolved


def resolve_existing(cloud, request, occasion):
    """Return a request for an existing volume with all fields; raises errors as `resolve_new`."""
    resolved, before = _with_all_fields(request), occasion.before
    mixed = [name for name in _OF_NEW_ONLY if resolved[name] not in (None, '')]
    if mixed:
        raise errors.BadField(field=', '.join(mixed), reason=(
            'these fields request new volumes, but resource_id an existing volume: use one or the '
            'other.'))
    resolved['on_end'] = _checked_end(resolved['on_end'] or KEEP, OF_EXISTING, (
        'an existing volume stays with its owner'))
    if before is None:
        _check_existing(cloud, resolved, occasion)
    elif before.request['resource_id'] != resolved['resource_id']:
        raise errors.BadField(field='resource_id', reason=(
            'a reservation keeps what it leases; make another lease for another volume.'))
    request_fields.refuse_while_it_runs(before, resolved, _KEPT_WHILE_IT_RUNS)
    return resolved


def total_gb(request):
    """Return the gigabytes that a resolved request for new volumes needs."""
    return request['size_gb'] * request['amount']


def quota_needs(gigabytes, volumes):
    """Return {name of a quota: units that new volumes need}, without zeros."""
    return {name: units for name, units in (('gigabytes', gigabytes), ('volumes', volumes))
            if units > 0}


def full_quota(cloud, project_id, wanted):
    """Return a quota of the project that is too small, as (name, the problem), or None.

    :param wanted: {name: additional units that the lease needs}.
    """
    return quotas.problem('Cinder', cloud.as_service().volumes.quotas(project_id), wanted)


def missing_volumes(observed, reservation, volume_ids):
    """Return the Drifts for volumes of a reservation that do not exist in Cinder any more.

    Nobody can repair these Drifts, because the data is lost.
    """
    existing_ids = {volume.id for volume in observed.volumes}
    return [audit.Drift('incomplete', f'reservation {reservation.id}',
                        f'its volume {volume_id} is gone')
            for volume_id in volume_ids if volume_id not in existing_ids]


def _with_all_fields(request):
    return {**dict.fromkeys(PROPERTIES), **request, 'attach': bool(request.get('attach'))}


def _check_existing(cloud, resolved, occasion):
    volume = request_fields.existing(
        'volume', resolved['resource_id'], cloud.as_service().volumes.volume,
        lambda volume: volume.project_id == occasion.project_id)
    if volume.status not in _LEASABLE:
        raise errors.BadField(field='resource_id', reason=(
            f'volume {volume.id} is in the status "{volume.status}"; it must be available or '
            'in use.'))
    if volume.type_name.startswith(names.TYPE_PREFIX):
        raise errors.BadField(field='resource_id', reason=(
            f'volume {volume.id} belongs to a lease already, and ends with it.'))
    if resolved['attach'] and volume.server_ids:
        raise errors.BadField(field='attach', reason=(
            f'volume {volume.id} is attached to a server; detach it first.'))
    if resolved['on_end'] == SNAPSHOT:
        _refuse_full_quota(cloud, occasion, 'on_end',
                           {'snapshots': 1, 'gigabytes': volume.size_gb})


def _checked_end(on_end, known, why_not):
    if on_end not in known:
        raise errors.BadField(field='on_end', reason=(
            f'"{on_end}" is not possible here, because {why_not}; known are: '
            f'{", ".join(known)}.'))
    return on_end


def _check_type(options, cloud, resolved):
    if resolved['on_end'] != RETYPE:
        if resolved['volume_type'] is not None:
            raise errors.BadField(field='volume_type', reason=(
                'it is allowed only with "on_end": "retype"; leave it out.'))
        return
    resolved['volume_type'] = resolved['volume_type'] or options.ordinary_type or None
    if resolved['volume_type'] is None:
        raise errors.BadField(field='volume_type', reason=(
            'it is required for "on_end": "retype": give the type that the volumes get.'))
    public = sorted(kind.name for kind in cloud.as_service().volumes.types() if kind.is_public)
    if resolved['volume_type'] not in public:
        raise errors.BadField(field='volume_type', reason=(
            f'there is no public volume type "{resolved["volume_type"]}"; public are: '
            f'{", ".join(public[:20]) or "none"}.'))


def _refuse_to_drop_volumes(cloud, resolved, occasion):
    """Refuse an amount below the number of volumes: only the owner knows which ones to delete."""
    before = occasion.before
    if before is None or resolved['amount'] >= before.request['amount']:
        return
    volumes = names.volumes_of(cloud.as_service().volumes, before.id, occasion.project_id)
    if resolved['give'] == TYPE:
        used, capacity, unit = (sum(volume.size_gb for volume in volumes), total_gb(resolved),
                                'GB of volumes')
    else:
        used, capacity, unit = len(volumes), resolved['amount'], 'volumes'
    if used > capacity:
        raise errors.Conflict(reason=(
            f'amount: the reservation has {used} {unit}, and would have capacity for {capacity}. '
            'Delete the volumes that you do not need, then try again.'))


def _check_quotas(cloud, resolved, occasion):
    held_gb, count = 0, 0
    before = occasion.before
    if before is not None and before.state != lifecycle.RESERVATION_PENDING:
        held_gb, count = total_gb(before.request), before.request['amount']
    if resolved['give'] == TYPE:
        # The number of volumes that the owner will create is not known.
        wanted = quota_needs(total_gb(resolved) - held_gb, 0 if count else 1)
    else:
        wanted = quota_needs(total_gb(resolved) - held_gb, resolved['amount'] - count)
        if resolved['on_end'] == RETYPE:
            wanted |= {f'{name}_{resolved["volume_type"]}': units
                       for name, units in wanted.items()}
    _refuse_full_quota(cloud, occasion, 'size_gb', wanted)


def _refuse_full_quota(cloud, occasion, field, wanted):
    problem = full_quota(cloud, occasion.project_id, wanted)
    if problem is not None:
        name, reason = problem
        raise errors.LimitReached(limit=f'cinder.{name}', reason=f'{field}: {reason}')
