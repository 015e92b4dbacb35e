# SPDX-License-Identifier: Apache-2.0
"""The quotas of the owner of a lease, which volumes count in."""


def refusal(quotas, wanted):
    """Return (the name of a quota that is too small, that in words), or None.

    :param quotas: {name: climate.cloud.models.Quota} of the project.
    :param wanted: {name: how much more is needed}.
    """
    for name, more in sorted(wanted.items()):
        quota = quotas.get(name)
        if more > 0 and quota is not None and quota.free is not None and quota.free < more:
            return name, (
                f'the quota "{name}" of the project has only {quota.free} of {quota.limit} left, '
                f'and the lease needs {more} more: delete volumes, or ask your operator for a '
                'larger quota.')
    return None


def needed(gigabytes, volumes):
    """Return what is needed of the quotas: {name: how much}."""
    return {'gigabytes': gigabytes, 'volumes': volumes}
