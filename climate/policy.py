# SPDX-License-Identifier: Apache-2.0
"""Policy checks: whether a caller may do an action, by the rules of oslo.policy."""
from importlib import metadata
import time

from oslo_policy import policy

from climate import errors
from climate import policies
from climate.policies import resources

# By default oslo.policy checks the rule files for changes before each decision.
_RELOAD_SECONDS = 1


class Policy:
    """The policy rules of one API process; a changed rule file takes effect within a second.

    :param monotonic: returns the seconds of a monotonic clock.
    :param pools: the names of the enabled pools.
    :param views: the paths of those that have a path of their own.
    """

    def __init__(self, conf, monotonic=time.monotonic, pools=(), views=()):
        self._monotonic = monotonic
        self._enforcer = policy.Enforcer(conf)
        self._enforcer.register_defaults(policies.list_rules())
        self._enforcer.register_defaults(resources.list_rules(pools, views))
        self._loaded_at = float('-inf')
        self._reload()

    def allows(self, context, rule, target=None):
        """Whether `rule` allows the caller to act on `target`.

        :param context: the RequestContext of the caller.
        :param target: {'project_id', 'user_id'} of the stored object; None: those of the caller.
        """
        if target is None:
            target = {'project_id': context.project_id, 'user_id': context.user_id}
        self._reload()
        try:
            return bool(self._enforcer.enforce(rule, target, context))
        except policy.InvalidScope:
            return False

    def authorize(self, context, rule, target=None):
        """Check that `rule` allows the caller to act on `target`.

        :param target: as for `allows`.
        :raises Forbidden: policy says no; the error names the rule.
        """
        if not self.allows(context, rule, target):
            raise errors.Forbidden(action=rule)

    def _reload(self):
        now = self._monotonic()
        if now - self._loaded_at >= _RELOAD_SECONDS:
            self._loaded_at = now
            self._enforcer.use_conf = True
            self._enforcer.load_rules()
            self._enforcer.use_conf = False


def sample_enforcer():
    """Return an enforcer with all rules of Climate, for the tools of oslo.policy."""
    from oslo_config import cfg
    enforcer = policy.Enforcer(cfg.CONF)
    for point in metadata.entry_points(group='oslo.policy.policies'):
        # Plugins register the rules of their pools; this module must not import them.
        if point.name.partition('.')[0] == 'climate':
            enforcer.register_defaults(point.load()())
    return enforcer
