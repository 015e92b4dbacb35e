# SPDX-License-Identifier: Apache-2.0
"""The comparison of a lease with the quotas of its project."""


def problem(service, quotas, units, counts_used=True):
    """Return the first quota that is too small, as (name, the problem in a sentence), or None.

    :param quotas: {name: Quota} of the project; a missing quota is unlimited.
    :param units: {name: additional units that the lease needs}.
    :param counts_used: whether the units that the project uses now are counted.
    """
    for name, needed in sorted(units.items()):
        quota = quotas.get(name)
        if quota is None or quota.limit is None:
            continue
        used, usage = (quota.used, f', of which {quota.used} are used') if counts_used else (0, '')
        if used + needed > quota.limit:
            return name, (
                f'The lease needs {needed} of the quota "{name}" in {service}, and the project has '
                f'{quota.limit}{usage}. Request less, delete what you do not need, or ask your '
                'operator for a larger quota.')
    return None
