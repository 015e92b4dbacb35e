# SPDX-License-Identifier: Apache-2.0
"""Policy check for criteria that name hosts, or that use private properties."""
from climate.api import hooks
from climate.policies import leases as rules


def may_use_hidden(policy, request):
    """Whether the caller's criteria may name hosts and use private properties.

    The contract of REST 1.0 lets everybody do so; its rule is another one, so that operators
    whose clients need that no more can close it.
    """
    rule = rules.HIDDEN_CRITERIA_1_0 if hooks.is_lenient(request) else rules.HIDDEN_CRITERIA
    return policy.allows(hooks.caller(request), rule)
