# SPDX-License-Identifier: Apache-2.0
"""The comparison of a lease with the quotas of its project."""


def too_small(quotas, wanted, counts_used=True):
    """Return the first quota that is too small, as (name, Quota, units used), or None.

    :param quotas: {name: Quota} of the project; a missing quota is unlimited.
    :param wanted: {name: additional units that the lease needs}.
    :param counts_used: whether the units that the project uses now are counted.
    """
    for name, units in sorted(wanted.items()):
        quota = quotas.get(name)
        if quota is None or quota.limit is None:
            continue
        used = quota.used if counts_used else 0
        if used + units > quota.limit:
            return name, quota, used
    return None
