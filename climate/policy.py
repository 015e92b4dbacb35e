# SPDX-License-Identifier: Apache-2.0
"""Policy checks: whether a caller may do an action, by the rules of oslo.policy."""
import difflib
import functools
from importlib import metadata
import time

from oslo_policy import policy

from climate import errors
from climate import policies
from climate.policies import resources

# By default oslo.policy checks the rule files for changes before each decision.
_RELOAD_SECONDS = 1
_USUAL_FILE = 'policy.yaml'


class Policy:
    """The policy rules of one API process; a changed rule file takes effect within a second.

    :param monotonic: returns the seconds of a monotonic clock.
    :param pools: the names of the enabled pools.
    :param views: the paths of those that have a path of their own.
    :raises errors.ConfigurationError: there is no such rule file, or it cannot be read.
    """

    def __init__(self, conf, monotonic=time.monotonic, pools=(), views=()):
        self._monotonic = monotonic
        self._enforcer = policy.Enforcer(conf)
        self._enforcer.register_defaults(policies.list_rules())
        self._enforcer.register_defaults(resources.list_rules(pools, views))
        self._loaded_at = float('-inf')
        name = conf.oslo_policy.policy_file
        found = conf.find_file(name)
        if found is None and name != _USUAL_FILE:
            raise errors.ConfigurationError(
                f'[oslo_policy] policy_file = "{name}" was not found. Name a file that exists, or '
                'remove the line.')
        try:
            self._reload()
        except (ValueError, OSError) as error:
            reason = ' '.join(str(error).split())
            raise errors.ConfigurationError(
                f'[oslo_policy] policy_file = "{found or name}" cannot be read: {reason}'
            ) from error

    def allows(self, context, rule, target=None):
        """Return whether `rule` allows the caller to act on `target`.

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

    def problems(self):
        """Return a sentence for each rule in the files that neither Climate nor a rule uses."""
        known = {rule.name for rule in _installed_rules()} | set(self._enforcer.registered_rules)
        written = self._enforcer.file_rules
        unused = sorted(name for name in written if name not in known and not any(
            f'rule:{name}' in rule.check_str for rule in written.values()))
        near = {name: difflib.get_close_matches(name, known, 1) for name in unused}
        return [f'[oslo_policy] policy_file: there is no rule {name}.'
                + (f' Did you mean {near[name][0]}?' if near[name] else '') for name in unused]

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
    enforcer.register_defaults(_installed_rules())
    return enforcer


def _installed_rules():
    """Return the rules of Climate and of all installed plugins, enabled or not."""
    return [rule for listed in _lists_of_rules() for rule in listed()]


@functools.cache
def _lists_of_rules():
    """Return the functions that list rules; to look for them takes 80 ms."""
    return [point.load() for point in metadata.entry_points(group='oslo.policy.policies')
            # Plugins register the rules of their pools; this module must not import them.
            if point.name.partition('.')[0] == 'climate']
