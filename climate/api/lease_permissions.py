# SPDX-License-Identifier: Apache-2.0
"""The permissions of a caller on the leases of one response."""
from climate.api import owner_or_operator_text
from climate.api import views
from climate.domain import lease_actions
from climate.policies import leases as rules

# {action: the rule that allows it}; rules.PUT allows the others.
_RULES = {lease_actions.SWAP: rules.SWAP, lease_actions.DELETE: rules.DELETE}


class LeasePermissions:
    """Returns the ``views.Permissions`` of one caller on leases, and checks each rule only once."""

    def __init__(self, policy, caller):
        self._policy = policy
        self._caller = caller
        self._allowed = {}

    def on(self, lease):
        """Return the ``views.Permissions`` on a lease."""
        return views.Permissions(
            # These rules are checked only if the lease has fields that they may hide.
            moves=lease.acquisition is not None and self._allows(rules.GET_MOVES),
            texts=lease.reason is not None and self._reads_operators_texts(),
            names=self._allows(rules.GET_NAMES, lease),
            actions=tuple(action for action in lease_actions.ALL
                          if self._allows(_RULES.get(action, rules.PUT), lease)))

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
        target = None if lease is None else target_of(lease)
        key = (rule, *(target or {}).values())
        return self._once(key, lambda: self._policy.allows(self._caller, rule, target))

    def _once(self, key, check):
        if key not in self._allowed:
            self._allowed[key] = check()
        return self._allowed[key]


def target_of(lease):
    """Return the target of the rules about a lease."""
    return {'project_id': lease.project_id, 'user_id': lease.user_id}
