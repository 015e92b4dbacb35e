# SPDX-License-Identifier: Apache-2.0
"""Requests for clusters and for nodes of a cluster: their fields and their stored form."""
import dataclasses
import re

from climate import errors
from climate.plugins.cluster import quotas
from climate.plugins.compute import capacity
from climate.plugins.compute import node_capacity
from climate.plugins.compute import requirements

WORKERS = node_capacity.FIRST
MASTERS = 'masters'
_LABEL = {'type': 'string', 'maxLength': 1024}
_FLAVOR = {**requirements.FLAVOR_ID, 'type': ['string', 'null']}
#: JSON schemas of the fields of a request.
PROPERTIES = {
    'cluster_template_id': {
        'description': 'The id or the name of the template of which a cluster is made. Not with '
                       'resource_id.',
        'type': ['string', 'null'], 'minLength': 1, 'maxLength': 255},
    'resource_id': {
        'description': 'The id of a cluster of the project, which gets further nodes. Not with '
                       'cluster_template_id.',
        'type': ['string', 'null'], 'minLength': 1, 'maxLength': 64},
    'node_count': {'description': 'How many workers.', 'type': 'integer', 'minimum': 1,
                   'maximum': 1000000},
    'master_count': {'description': 'How many masters a new cluster has. null: one.',
                     'type': ['integer', 'null'], 'minimum': 1, 'maximum': 1000000},
    'flavor_id': {'description': 'The id or the name of the flavor of the workers. null: that of '
                                 'the template or of the cluster.', **_FLAVOR},
    'master_flavor_id': {'description': 'The id or the name of the flavor of the masters. null: '
                                        'that of the template.', **_FLAVOR},
    'labels': {'description': 'Labels of a new cluster, which are added to those of the template.',
               'type': ['object', 'null'], 'maxProperties': 100, 'additionalProperties': _LABEL},
    'keypair': {'description': 'The name of the key pair with which a new cluster is made.',
                'type': ['string', 'null'], 'minLength': 1, 'maxLength': 255},
}
# What only a new cluster has.
_NEW = ('master_count', 'master_flavor_id', 'labels', 'keypair')
_KEPT = ('cluster_template_id', 'resource_id', *_NEW, 'flavor_id')

_ID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
# Magnum would take other characters for a part of its URL.
_NAME = re.compile(r'[\w. -]*[\w-]')
_NO_CHANGE = ('CREATE_FAILED', 'DELETE_IN_PROGRESS', 'DELETE_COMPLETE', 'DELETE_FAILED')


@dataclasses.dataclass(frozen=True)
class _Template:
    """The part of a ClusterTemplate that a stored request has."""

    id: str
    name: str
    flavor_id: str | None = None
    master_flavor_id: str | None = None


def is_new(request):
    """Return True for a resolved request for a new cluster, False for nodes of an existing one."""
    return request['resource_id'] is None


def asked(request):
    """Return the part of a resolved request that a client may send."""
    names = ('cluster_template_id', *_NEW, 'flavor_id', 'node_count') if is_new(request) else (
        'resource_id', 'flavor_id', 'node_count')
    return {name: request[name] for name in names}


def resolve(cloud, request, occasion):
    """Add the flavors and the names to a request; returns it as it is stored.

    :raises BadField: the project cannot use what the request names, or fields contradict others.
    :raises Conflict: the reservation runs, and something other than node_count would change; or a
        quota of the project is too small.
    """
    before = occasion.before
    found = {**dict.fromkeys(PROPERTIES), **{
        name: value for name, value in request.items() if name in PROPERTIES}}
    _refuse_mixed(found)
    if before is not None:
        found = _as_before(found, before)
    if is_new(found):
        found = _new(cloud, found, occasion)
    else:
        found = _existing(cloud, found, occasion)
    capacity.refuse_while_it_runs(before, found, _KEPT)
    quotas.refuse_at_request(cloud, found, occasion)
    return found


def _refuse_mixed(found):
    if (found['cluster_template_id'] is None) == (found['resource_id'] is None):
        raise errors.BadField(field='cluster_template_id, resource_id', reason=(
            'give one of them: a template for a new cluster, or the id of a cluster that gets '
            'further nodes.'))
    foreign = [name for name in _NEW if found[name] is not None]
    if found['resource_id'] is not None and foreign:
        raise errors.BadField(field=', '.join(foreign), reason=(
            'only a new cluster has these; the nodes of an existing one have node_count and '
            'flavor_id.'))


def _as_before(found, before):
    """Return the request with the stored words for what it names in other words.

    A client may send back the values of an answer, which have the reservation's own flavors.
    """
    if is_new(found) != is_new(before.request):
        raise errors.BadField(field='resource_id', reason=(
            'a reservation for a new cluster cannot become one for nodes of an existing cluster, '
            'nor the other way round; make another lease.'))
    said = {'cluster_template_id': {before.request['cluster_template_name']}}
    for name, key in (('flavor_id', WORKERS), ('master_flavor_id', MASTERS)):
        flavor = before.request['flavors'].get(key) or {}
        said[name] = {None, node_capacity.flavor_id(before.id, key), flavor.get('name')}
    return {**found, **{name: before.request[name] for name, words in said.items()
                        if found[name] in words}}


def _new(cloud, found, occasion):
    template = _template(cloud, found['cluster_template_id'], occasion)
    flavors = {}
    for key, name, default in ((MASTERS, 'master_flavor_id', template.master_flavor_id),
                               (WORKERS, 'flavor_id', template.flavor_id)):
        flavors[key] = _flavor(cloud, key, name, found[name] or default, occasion)
        found[name] = flavors[key]['id']
    return {**found, 'cluster_template_id': template.id, 'cluster_template_name': template.name,
            'master_count': found['master_count'] or 1, 'labels': found['labels'] or {},
            'flavors': flavors}


def _existing(cloud, found, occasion):
    before = occasion.before
    if before is not None and found['resource_id'] == before.request['resource_id']:
        flavor = _flavor(cloud, WORKERS, 'flavor_id', found['flavor_id'], occasion)
    else:
        cluster = _cluster(cloud, found, occasion)
        flavor = _flavor(cloud, WORKERS, 'flavor_id', found['flavor_id'] or cluster.flavor_id,
                         occasion)
    return {**found, 'flavor_id': flavor['id'], 'cluster_template_name': None,
            'flavors': {WORKERS: flavor}}


def _cluster(cloud, found, occasion):
    cluster = None
    if _ID.fullmatch(found['resource_id']):
        cluster = cloud.as_service().clusters.cluster(found['resource_id'])
    if cluster is None or cluster.project_id != occasion.project_id:
        raise errors.BadField(field='resource_id', reason=(
            f'there is no cluster "{found["resource_id"]}" in this project; "openstack coe '
            'cluster list" has the ids.'))
    if cluster.status in _NO_CHANGE:
        raise errors.BadField(field='resource_id', reason=(
            f'cluster {cluster.id} is {cluster.status} and cannot get nodes; choose another one.'))
    return cluster


def _template(cloud, template_id, occasion):
    before, found = occasion.before, None
    if before is not None and template_id == before.request['cluster_template_id']:
        # It may be gone, or changed; what was leased stays.
        return _Template(template_id, before.request['cluster_template_name'])
    if _NAME.fullmatch(template_id):
        found = cloud.as_service().clusters.template(template_id, occasion.project_id)
    if found is None:
        raise errors.BadField(field='cluster_template_id', reason=(
            f'there is no cluster template "{template_id}" that this project may use; "openstack '
            'coe cluster template list" has the ids.'))
    return found


def _flavor(cloud, key, field, flavor_id, occasion):
    """Return the flavor as a dict; one that was leased before keeps its sizes.

    :raises BadField: the project may not use it, or it cannot be leased.
    """
    before = occasion.before
    if before is not None and flavor_id == before.request[field]:
        return before.request['flavors'][key]
    if flavor_id is None:
        raise errors.BadField(field=field, reason=(
            'neither the request nor the template or cluster names a flavor; name one.'))
    try:
        flavor = requirements.as_dict(requirements.find(cloud, flavor_id, occasion.project_id))
        # Called only for its errors: it refuses a flavor that cannot be leased.
        requirements.refuse_uncountable(flavor, field)
    except errors.BadField as error:
        raise errors.BadField(field=field, reason=error.kwargs['reason']) from error
    if not set(capacity.ties('')).isdisjoint(flavor['extra_specs']):
        raise errors.BadField(field=field, reason=(
            f'flavor "{flavor_id}" belongs to a reservation; name an ordinary flavor in {field}.'))
    return flavor
