# SPDX-License-Identifier: Apache-2.0
"""Requests for clusters and for nodes of a cluster: their fields, checks and stored form."""
import dataclasses
import re

from climate import errors
from climate.plugins import request_fields
from climate.plugins.cluster import quotas
from climate.plugins.compute import capacity
from climate.plugins.compute import requirements

WORKERS = capacity.WORKERS
MASTERS = 'masters'
_LABEL = {'type': 'string', 'maxLength': 1024}
_FLAVOR = {**requirements.FLAVOR_ID, 'type': ['string', 'null']}
#: JSON schemas of the fields of a request.
PROPERTIES = {
    'cluster_template_id': {
        'description': 'The id or the name of the template of a new cluster. Not with '
                       'resource_id.',
        'type': ['string', 'null'], 'minLength': 1, 'maxLength': 255},
    'resource_id': {
        'description': 'The id of a cluster of the project, which gets further nodes. Not with '
                       'cluster_template_id.',
        'type': ['string', 'null'], 'minLength': 1, 'maxLength': 64},
    'node_count': {'description': 'The number of workers.', 'type': 'integer', 'minimum': 1,
                   'maximum': 1000000},
    'master_count': {'description': 'The number of masters of a new cluster. null: one.',
                     'type': ['integer', 'null'], 'minimum': 1, 'maximum': 1000000},
    'flavor_id': {'description': 'The id or the name of the flavor of the workers. null: that of '
                                 'the template or of the cluster.', **_FLAVOR},
    'master_flavor_id': {'description': 'The id or the name of the flavor of the masters. null: '
                                        'that of the template.', **_FLAVOR},
    'labels': {'description': 'Labels of a new cluster, which are added to those of the template.',
               'type': ['object', 'null'], 'maxProperties': 100, 'additionalProperties': _LABEL},
    'keypair': {'description': 'The name of the key pair of a new cluster.',
                'type': ['string', 'null'], 'minLength': 1, 'maxLength': 255},
}
# The fields of new clusters only.
_NEW = ('master_count', 'master_flavor_id', 'labels', 'keypair')
_KEPT = ('cluster_template_id', 'resource_id', *_NEW, 'flavor_id')

# Other characters could change the path of Magnum's URL.
_NAME = re.compile(r'[\w. -]*[\w-]')
# The statuses of a cluster that cannot get nodes.
_NO_CHANGE = ('CREATE_FAILED', 'DELETE_IN_PROGRESS', 'DELETE_COMPLETE', 'DELETE_FAILED')


@dataclasses.dataclass(frozen=True)
class _Template:
    """The fields of a ClusterTemplate in a stored request."""

    id: str
    name: str
    flavor_id: str | None = None
    master_flavor_id: str | None = None


def is_new(request):
    """Return True for a request for a new cluster, False for nodes of an existing one."""
    return request.get('resource_id') is None


def asked(request):
    """Return the part of a resolved request that a client may send."""
    names = ('cluster_template_id', *_NEW, 'flavor_id', 'node_count') if is_new(request) else (
        'resource_id', 'flavor_id', 'node_count')
    return {name: request[name] for name in names}


def resolve(cloud, request, occasion):
    """Add the flavors and the names to a request; return its stored form.

    :raises BadField: the project cannot use an object that the request names, or two fields
        contradict each other.
    :raises Conflict: the reservation runs, and a field other than node_count would change.
    :raises LimitReached: a quota of the project is too small.
    """
    before = occasion.before
    resolved = {**dict.fromkeys(PROPERTIES), **{
        name: value for name, value in request.items() if name in PROPERTIES}}
    _refuse_mixed(resolved)
    if before is not None:
        resolved = _as_before(resolved, before)
    if is_new(resolved):
        resolved = _new(cloud, resolved, occasion)
    else:
        resolved = _existing(cloud, resolved, occasion)
    request_fields.refuse_while_it_runs(before, resolved, _KEPT)
    quotas.refuse_at_request(cloud, resolved, occasion)
    return resolved


def _refuse_mixed(resolved):
    if (resolved['cluster_template_id'] is None) == (resolved['resource_id'] is None):
        raise errors.BadField(field='cluster_template_id, resource_id', reason=(
            'give one of them: a template for a new cluster, or the id of a cluster that gets '
            'further nodes.'))
    wrong_fields = [name for name in _NEW if resolved[name] is not None]
    if resolved['resource_id'] is not None and wrong_fields:
        raise errors.BadField(field=', '.join(wrong_fields), reason=(
            'only a new cluster has these fields; for nodes of an existing cluster send node_count '
            'and flavor_id.'))


def _as_before(resolved, before):
    """Return the request with the stored ids instead of other names of the same objects.

    A client may send back the values of a response, which names the private flavors.
    """
    if is_new(resolved) != is_new(before.request):
        raise errors.BadField(field='resource_id', reason=(
            'a reservation for a new cluster cannot become one for nodes of an existing cluster, '
            'nor the other way round; make another lease.'))
    other_names = {'cluster_template_id': {before.request['cluster_template_name']}}
    for name, key in (('flavor_id', WORKERS), ('master_flavor_id', MASTERS)):
        flavor = before.request['flavors'].get(key) or {}
        other_names[name] = {None, capacity.flavor_id(before.id, key), flavor.get('name')}
    return {**resolved, **{name: before.request[name] for name, texts in other_names.items()
                           if resolved[name] in texts}}


def _new(cloud, resolved, occasion):
    template = _template(cloud, resolved['cluster_template_id'], occasion)
    flavors = {}
    for key, name, default in ((MASTERS, 'master_flavor_id', template.master_flavor_id),
                               (WORKERS, 'flavor_id', template.flavor_id)):
        flavors[key] = _flavor(cloud, key, name, resolved[name] or default, occasion)
        resolved[name] = flavors[key]['id']
    return {**resolved, 'cluster_template_id': template.id, 'cluster_template_name': template.name,
            'master_count': resolved['master_count'] or 1, 'labels': resolved['labels'] or {},
            'flavors': flavors}


def _existing(cloud, resolved, occasion):
    before = occasion.before
    if before is not None and resolved['resource_id'] == before.request['resource_id']:
        flavor = _flavor(cloud, WORKERS, 'flavor_id', resolved['flavor_id'], occasion)
    else:
        cluster = _cluster(cloud, resolved, occasion)
        flavor = _flavor(cloud, WORKERS, 'flavor_id', resolved['flavor_id'] or cluster.flavor_id,
                         occasion)
    return {**resolved, 'flavor_id': flavor['id'], 'cluster_template_name': None,
            'flavors': {WORKERS: flavor}}


def _cluster(cloud, resolved, occasion):
    cluster = request_fields.existing(
        'coe cluster', resolved['resource_id'], cloud.as_service().clusters.cluster,
        lambda cluster: cluster.project_id == occasion.project_id)
    if cluster.status in _NO_CHANGE:
        raise errors.BadField(field='resource_id', reason=(
            f'cluster {cluster.id} is {cluster.status} and cannot get nodes; choose another one.'))
    return cluster


def _template(cloud, template_id, occasion):
    before, template = occasion.before, None
    if before is not None and template_id == before.request['cluster_template_id']:
        # Do not read the template again, because it may be gone or changed.
        return _Template(template_id, before.request['cluster_template_name'])
    if _NAME.fullmatch(template_id):
        template = cloud.as_service().clusters.template(template_id, occasion.project_id)
    if template is None:
        raise errors.BadField(field='cluster_template_id', reason=(
            f'there is no cluster template "{template_id}" that this project may use; "openstack '
            'coe cluster template list" has the ids.'))
    return template


def _flavor(cloud, key, field, flavor_id, occasion):
    """Return the flavor as a dict; a flavor that the reservation already has is not read again.

    :raises BadField: the project may not use the flavor, or it cannot be leased.
    """
    before = occasion.before
    if before is not None and flavor_id == before.request[field]:
        return before.request['flavors'][key]
    if flavor_id is None:
        raise errors.BadField(field=field, reason=(
            'neither the request nor the template or cluster names a flavor; name one.'))
    flavor = requirements.leasable(cloud, flavor_id, occasion.project_id, field)
    if not set(capacity.ties('')).isdisjoint(flavor['extra_specs']):
        raise errors.BadField(field=field, reason=(
            f'flavor "{flavor_id}" belongs to a reservation; name an ordinary flavor in {field}.'))
    return flavor
