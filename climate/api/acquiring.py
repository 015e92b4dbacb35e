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


def shown_to(policy, caller, error):
    """A NotEnough as this caller may see it: without the names of hosts and of servers of others.

    What only says how many is the same error. Servers of the caller's own project are named.
    """
    if 'reasons' not in error.kwargs or policy.allows(caller, rules.GET_MOVES):
        return error
    known = {name: value for name, value in error.kwargs.items() if name != 'reasons'}
    text = (f'Of {known["wanted"]} hosts only {known["free"]} can be had, also by clearing hosts '
            'of the servers of others.')
    if known['own_servers']:
        text += (' Servers of your own project are not moved; these are on hosts that are lent to '
                 f'best effort: {", ".join(known["own_servers"])}. Delete or shelve them, and ask '
                 'again.')
    return errors.NotEnough(text, **known)
