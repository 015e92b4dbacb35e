# SPDX-License-Identifier: Apache-2.0
"""May this caller do this to that: one question to oslo.policy."""
from oslo_policy import policy

from climate import errors
from climate import policies


class Policy:
    """The rules of one API process."""

    def __init__(self, conf):
        self._enforcer = policy.Enforcer(conf)
        self._enforcer.register_defaults(policies.list_rules())
        self._enforcer.load_rules()

    def allows(self, context, rule, target=None):
        """True where `context` may do what `rule` guards.

        :param target: {'project_id', 'user_id'} of what is stored; None: of the caller's own.
        """
        if target is None:
            target = {'project_id': context.project_id, 'user_id': context.user_id}
        try:
            return bool(self._enforcer.enforce(rule, target, context))
        except policy.InvalidScope:
            return False

    def authorize(self, context, rule, target=None):
        """Nothing, where the caller may.

        :raises Forbidden: the error names the rule.
        """
        if not self.allows(context, rule, target):
            raise errors.Forbidden(action=rule)


def sample_enforcer():
    """An enforcer with every rule, for oslopolicy-sample-generator."""
    from oslo_config import cfg
    enforcer = policy.Enforcer(cfg.CONF)
    enforcer.register_defaults(policies.list_rules())
    return enforcer
