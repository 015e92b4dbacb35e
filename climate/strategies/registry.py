# SPDX-License-Identifier: Apache-2.0
"""The strategies that are installed."""
import stevedore

from climate import errors

NAMESPACE = 'climate.acquire.strategies'


def names():
    """The names of all strategies that are installed, in order."""
    return sorted(stevedore.ExtensionManager(NAMESPACE, on_load_failure_callback=_broken).names())


def load(conf, name):
    """The Strategy of that name.

    :raises BadField: none is installed under it; the error names those that are.
    """
    found = {each.name: each.plugin for each in stevedore.ExtensionManager(
        NAMESPACE, on_load_failure_callback=_broken)}
    if name not in found:
        raise errors.BadField(field='acquire.strategy', reason=(
            f'"{name[:80]}" is not installed; known are: {", ".join(sorted(found)) or "none"}.'))
    return found[name](conf)


def _broken(manager, entry_point, error):
    raise errors.BadField(field='acquire.strategy', reason=(
        f'the strategy {entry_point.name} does not load: {error}.'))
