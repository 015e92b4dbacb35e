# SPDX-License-Identifier: Apache-2.0
"""Who may acquire a lease in which way."""
from climate import errors
from climate.domain import acquire
from climate.policies import leases as rules


def authorize(policy, caller, asked):
    """Nothing, where the caller may have an Acquire (or None).

    :raises Forbidden: the error names the rule.
    :raises BadField: only others may wait without a limit.
    """
    if asked is None:
        return
    if asked.type == acquire.BEST_EFFORT:
        policy.authorize(caller, rules.BEST_EFFORT)
        if asked.strategy is not None:
            policy.authorize(caller, rules.CHOOSE_STRATEGY)
    if asked.type != acquire.WAIT:
        return
    if asked.priority:
        policy.authorize(caller, rules.PRIORITIZE)
    if asked.not_after is None and not policy.allows(caller, rules.WAIT_WITHOUT_LIMIT):
        raise errors.BadField(field='acquire.not_after', reason=(
            'say until when it is to wait, such as "2030-05-01 08:00": with your roles no '
            'request waits without a limit.'))
