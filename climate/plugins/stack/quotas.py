# SPDX-License-Identifier: Apache-2.0
"""The quotas of the owner that the servers of a stack use."""
from climate import errors


def used_by(flavor, amount):
    """Return {name of a quota: units} that servers of a flavor, a dict, use."""
    return {'instances': amount, 'cores': amount * flavor['vcpus'],
            'ram': amount * flavor['ram']}


def refuse_at_request(cloud, occasion, wanted):
    """Refuse a stack that does not fit into the quotas of the project.

    What is used now counts only if the lease starts now.

    :param wanted: {name of a quota: units}.
    :raises BadField: the error names the quota.
    """
    problem = _problem(cloud, occasion.project_id, wanted, with_used=occasion.starts_now)
    if problem is not None:
        raise errors.BadField(field='template', reason=problem)


def refuse_at_start(cloud, lease, wanted):
    """Refuse to create a stack that does not fit into the quotas of the project now.

    :raises CloudError: the error names the quota.
    """
    problem = _problem(cloud, lease.project_id, wanted, with_used=True)
    if problem is not None:
        raise errors.CloudError.plain('Nova', problem)


def _problem(cloud, project_id, wanted, with_used):
    if not wanted:
        return None
    found = cloud.as_service().nova.quotas(project_id)
    for name, units in sorted(wanted.items()):
        quota = found[name]
        used = quota.used if with_used else 0
        if quota.limit is not None and used + units > quota.most:
            now = f', of which {used} are used' if with_used else ''
            return (f'its servers need {units} of the quota "{name}", and your project has '
                    f'{quota.limit}{now}: make the stack smaller, delete servers, or ask for a '
                    'larger quota.')
    return None
