# SPDX-License-Identifier: Apache-2.0
"""The permissions of a caller on leases, by ownership, by shares and by policy.

Policy knows owners only: the target of a rule has the project and the user that own a lease. A
share that gives enough access for a rule makes the caller count as the owner for this rule. So the
roles that policy demands of owners are demanded of receivers of shares, too.
"""
from climate.api import owner_or_operator_text
from climate.api import views
from climate.domain import lease_actions
from climate.domain import shares
from climate.policies import leases as rules
from climate.policies import reservations as reservation_rules
from climate.policies import shares as share_rules
from climate.policies import sub_leases as sub_lease_rules

# {action: the rule that allows it}; rules.PUT allows the others.
_RULES = {lease_actions.SHARE: share_rules.POST, lease_actions.UNSHARE: share_rules.DELETE,
          lease_actions.LEAVE: share_rules.LEAVE,
          lease_actions.SUB_LEASE: sub_lease_rules.POST, lease_actions.SWAP: rules.SWAP,
          lease_actions.DELETE: rules.DELETE}
#: {rule: the least access of a share that is enough for it}. All other rules are for owners.
LEAST_ACCESS = {
    rules.GET: shares.Access.VIEWER, rules.GET_NAMES: shares.Access.VIEWER,
    share_rules.GET: shares.Access.VIEWER, share_rules.LEAVE: shares.Access.VIEWER,
    rules.PUT: shares.Access.MANAGER, rules.DELETE: shares.Access.MANAGER,
    rules.SWAP: shares.Access.MANAGER, rules.GIVE_BACK: shares.Access.MANAGER,
    reservation_rules.PUT: shares.Access.MANAGER,
}
#: The rules by which the owner of a lease may see and delete its sub-leases, too.
_OF_PARENT = (rules.GET, rules.GET_NAMES, rules.DELETE)


class LeasePermissions:
    """Returns the ``views.Permissions`` of one caller on leases, and checks each rule only once.

    :param parts: the ``controllers.base.Parts`` of the API process.
    """

    def __init__(self, parts, caller):
        self._policy = parts.policy
        self._now = parts.clock()
        self._caller = caller
        self._allowed = {}

    def on(self, lease):
        """Return the ``views.Permissions`` on a lease."""
        share = self.share_of(lease)
        return views.Permissions(
            # These rules are checked only if the lease has fields that they may hide.
            moves=lease.acquisition is not None and self._allows(rules.GET_MOVES),
            texts=lease.reason is not None and self._reads_operators_texts(),
            names=self._allows(rules.GET_NAMES, lease),
            actions=tuple(action for action in lease_actions.ALL
                          if (share is not None or action != lease_actions.LEAVE)
                          and self._allows(_RULES.get(action, rules.PUT), lease)),
            share=share, is_receiver=share is not None and not self._allows(
                share_rules.POST, lease))

    def share_of(self, lease):
        """Return the Share by which the caller sees a lease; None: the caller owns it, or none."""
        if lease.project_id == self._caller.project_id:
            return None
        return shares.best_of(lease.shares, self._caller, self._now)

    def label(self, allocation):
        """Return the fields about the lease of an Allocation; they are null if it is hidden."""
        lease = allocation.lease
        if lease is None or not self._allows(rules.GET, lease):
            return dict.fromkeys(('lease_name', 'user_id', 'user_name', 'project_id',
                                  'project_name'))
        return {'lease_name': lease.name, **self.owner(lease)}

    def owner(self, lease):
        """Return the fields about the owner of a lease; the names are null if they are hidden."""
        names = self._allows(rules.GET_NAMES, lease)
        return {'user_id': lease.user_id, 'user_name': lease.user_name if names else None,
                'project_id': lease.project_id,
                'project_name': lease.project_name if names else None}

    def _reads_operators_texts(self):
        return self._once('texts', lambda: owner_or_operator_text.is_operator(
            self._policy, self._caller))

    def _allows(self, rule, lease=None):
        target = None if lease is None else target_of(lease, self._caller, rule, self._now)
        key = (rule, *(target or {}).values())
        return self._once(key, lambda: self._policy.allows(self._caller, rule, target))

    def _once(self, key, check):
        if key not in self._allowed:
            self._allowed[key] = check()
        return self._allowed[key]


def target_of(lease, caller, rule, now):
    """Return the target of a rule about a lease, for a caller with or without a share of it."""
    least = LEAST_ACCESS.get(rule, shares.Access.OWNER)
    if lease.project_id != caller.project_id and shares.access_of(lease, caller, now) >= least:
        return {'project_id': caller.project_id, 'user_id': caller.user_id}
    parent = getattr(lease, 'parent', None)
    if rule in _OF_PARENT and parent is not None and parent.project_id == caller.project_id:
        return {'project_id': caller.project_id, 'user_id': caller.user_id}
    return {'project_id': lease.project_id, 'user_id': lease.user_id}


def allows(parts, caller, rule, lease):
    """Return whether policy, or a share, allows a caller what a rule is about."""
    return parts.policy.allows(caller, rule, target_of(lease, caller, rule, parts.clock()))


def authorize(parts, caller, rule, lease):
    """Check that policy, or a share, allows a caller what a rule is about.

    :raises Forbidden: neither does.
    """
    parts.policy.authorize(caller, rule, target_of(lease, caller, rule, parts.clock()))
