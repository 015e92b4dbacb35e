# SPDX-License-Identifier: Apache-2.0
"""The quotas of the owner's project that a cluster and its nodes use."""
import collections

from climate import errors
from climate.plugins import quotas


def refuse_at_request(cloud, request, occasion):
    """Refuse a reservation that exceeds the quotas of its project.

    The present use is counted only if the nodes are created at once.

    :param request: a resolved request.
    :raises LimitReached: a quota is too small.
    """
    before = occasion.before
    runs = before is not None and bool(before.binding)
    counts = collections.Counter(_counts(request))
    if runs:
        counts -= collections.Counter(_counts(before.request))
    if before is None and request['resource_id'] is None:
        full = _full(cloud, occasion.project_id)
        if full is not None:
            raise errors.LimitReached(limit='magnum.clusters', reason=full)
    problem = _problem(cloud, occasion.project_id, _used_by(request['flavors'], counts),
                       counts_used=runs or occasion.starts_now)
    if problem is not None:
        raise errors.LimitReached(limit=f'nova.{problem[0]}', reason=problem[1])


def refuse_at_start(cloud, lease, reservation):
    """Refuse to create a cluster or further nodes that exceed the quotas of the project.

    :raises CloudError: a quota is too small; the error names it.
    """
    request = reservation.request
    full = _full(cloud, lease.project_id) if request['resource_id'] is None else None
    if full is not None:
        raise errors.CloudError.plain('Magnum', full)
    problem = _problem(cloud, lease.project_id, _used_by(request['flavors'], {
        key: len(ids) for key, ids in reservation.allocated.items()}), counts_used=True)
    if problem is not None:
        raise errors.CloudError.plain('Nova', problem[1])


def _counts(request):
    """Return {need key: nodes} of a resolved request."""
    counts = {'workers': request['node_count'], 'masters': request['master_count']}
    return {key: counts[key] for key in request['flavors']}


def _used_by(flavors, counts):
    """Return {name of a quota of Nova: units} for {need key: number of nodes}."""
    units = collections.Counter()
    for key, count in counts.items():
        units.update({'instances': count, 'cores': count * flavors[key]['vcpus'],
                      'ram': count * flavors[key]['ram']})
    return units


def _problem(cloud, project_id, units, counts_used):
    """Return a quota of Nova that is too small, as (name, the problem), or None."""
    if not any(units.values()):
        return None
    return quotas.problem('Nova', cloud.as_service().nova.quotas(project_id), units, counts_used)


def _full(cloud, project_id):
    """Return the sentence that the quota of clusters is used up, or None."""
    used, limit = cloud.as_service().clusters.quota(project_id)
    if limit < 0 or used < limit:
        return None
    return (f"The project's quota of clusters in Magnum is full: it has {used} of {limit}. Delete "
            'a cluster, or ask your operator for a larger quota.')
