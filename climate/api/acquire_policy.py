# SPDX-License-Identifier: Apache-2.0
"""Policy checks for the ways to acquire a lease."""
from climate import errors
from climate.domain import acquire
from climate.policies import leases as rules


def authorize(policy, caller, asked):
    """Check that the caller may acquire a lease in the requested way.

    :param asked: an Acquire, or None for a lease that is immediate or scheduled.
    :raises Forbidden: policy says no; the error names the rule.
    :raises BadField: the request would wait without a limit, and policy does not allow that.
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
            'give a moment, such as "2030-05-01 08:00": your roles do not allow a request to '
            'wait without a limit.'))


def shown_to(policy, caller, error):
    """Remove from a NotEnough what this caller may not see: hosts and other projects' servers.

    :returns: the same error if it has counts only, or if the caller may see all; else a new
        NotEnough, which names only servers of the caller's own project.
    """
    if 'reasons' not in error.kwargs or policy.allows(caller, rules.GET_MOVES):
        return error
    return errors.NotEnough(error.owner_message, **error.owner_details)
