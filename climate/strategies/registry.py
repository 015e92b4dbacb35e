# SPDX-License-Identifier: Apache-2.0
"""The strategies that are installed."""
import functools

from oslo_log import log
import stevedore

from climate import errors

LOG = log.getLogger(__name__)

NAMESPACE = 'climate.acquire.strategies'


class Unusable(Exception):
    """A strategy cannot be used; says which and why."""


def check(conf):
    """Nothing, where all strategies that are installed load, and the one of the conf is there.

    :raises Unusable: one is broken, or the one of [acquire] migration_strategy is missing.
    """
    def refuse(_manager, entry_point, error):
        raise Unusable(f'{NAMESPACE}: {entry_point.name} does not load: {error}')

    wanted, found = conf.acquire.migration_strategy, _found(refuse)
    if wanted not in found:
        raise Unusable(f'[acquire] migration_strategy: "{wanted}" is not installed; known are: '
                       f'{", ".join(sorted(found)) or "none"}.')


def names():
    """The names of all strategies that can be used, in order."""
    return sorted(_usable())


def load(conf, name):
    """The Strategy of that name.

    :raises BadField: none can be used under it; the error names those that can.
    """
    found = _usable()
    if name not in found:
        raise errors.BadField(field='acquire.strategy', reason=(
            f'"{name[:80]}" is not installed; known are: {", ".join(sorted(found)) or "none"}.'))
    return found[name](conf)


@functools.cache
def _usable():
    """{name: class}; looked for once, for a hunt asks at each of its plans."""
    return _found(_leave_out)


def _found(on_failure):
    return {each.name: each.plugin for each in stevedore.ExtensionManager(
        NAMESPACE, on_load_failure_callback=on_failure)}


def _leave_out(_manager, entry_point, error):
    LOG.error('The strategy %s does not load, and cannot be used: %s', entry_point.name, error)
