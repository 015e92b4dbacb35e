# SPDX-License-Identifier: Apache-2.0
"""May this caller do this to that: one question to oslo.policy."""
import time

from oslo_policy import policy

from climate import errors
from climate import policies

# oslo.policy itself would look at the files of rules before each decision.
_LOOK_SECONDS = 1


class Policy:
    """The rules of one API process; changed files of them hold a second later."""

    def __init__(self, conf):
        self._enforcer = policy.Enforcer(conf)
        self._enforcer.register_defaults(policies.list_rules())
        self._looked_at = float('-inf')
        self._look()

    def allows(self, context, rule, target=None):
        """True where `context` may do what `rule` guards.

        :param target: {'project_id', 'user_id'} of what is stored; None: of the caller's own.
        """
        if target is None:
            target = {'project_id': context.project_id, 'user_id': context.user_id}
        self._look()
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

    def _look(self):
        now = time.monotonic()
        if now - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = now
            self._enforcer.use_conf = True
            self._enforcer.load_rules()
            self._enforcer.use_conf = False


def sample_enforcer():
    """An enforcer with every rule, for oslopolicy-sample-generator."""
    from oslo_config import cfg
    enforcer = policy.Enforcer(cfg.CONF)
    enforcer.register_defaults(policies.list_rules())
    return enforcer
