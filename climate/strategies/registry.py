# SPDX-License-Identifier: Apache-2.0
"""The registry of installed strategies."""
import functools

from oslo_log import log
import stevedore

from climate import errors

LOG = log.getLogger(__name__)

NAMESPACE = 'climate.acquire.strategies'


class Unusable(errors.ConfigurationError):
    """A strategy cannot be used; the text says which one and why."""


def check(conf):
    """Check that all installed strategies load and that the configured one is installed.

    :raises Unusable: one does not load, or [acquire] migration_strategy is not installed.
    """
    def refuse(_manager, entry_point, error):
        raise Unusable(f'{NAMESPACE}: {entry_point.name} does not load: {error}')

    wanted, found = conf.acquire.migration_strategy, _found(refuse)
    if wanted not in found:
        raise Unusable(f'[acquire] migration_strategy: "{wanted}" is not installed; installed are: '
                       f'{", ".join(sorted(found)) or "none"}.')


def names():
    """Return the sorted names of all usable strategies."""
    return sorted(_usable())


def load(conf, name):
    """Return a Strategy by its name.

    :raises BadField: no usable strategy has that name; the error names those that are usable.
    """
    found = _usable()
    if name not in found:
        raise errors.BadField(field='acquire.strategy', reason=(
            f'"{name[:80]}" is not installed; known are: {", ".join(sorted(found)) or "none"}.'))
    return found[name](conf)


@functools.cache
def _usable():
    """Return {name: class}, loaded once, because each plan of host clearing needs it."""
    return _found(_leave_out)


def _found(on_failure):
    return {each.name: each.plugin for each in stevedore.ExtensionManager(
        NAMESPACE, on_load_failure_callback=on_failure)}


def _leave_out(_manager, entry_point, error):
    LOG.error('Strategy %s does not load and cannot be used: %s', entry_point.name, error)
