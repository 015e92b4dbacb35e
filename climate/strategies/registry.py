# SPDX-License-Identifier: Apache-2.0
"""The strategies that are installed."""
import functools

import stevedore

from climate import errors

NAMESPACE = 'climate.acquire.strategies'


def names():
    """The names of all strategies that are installed, in order."""
    return sorted(_installed())


def load(conf, name):
    """The Strategy of that name.

    :raises BadField: none is installed under it; the error names those that are.
    """
    found = _installed()
    if name not in found:
        raise errors.BadField(field='acquire.strategy', reason=(
            f'"{name[:80]}" is not installed; known are: {", ".join(sorted(found)) or "none"}.'))
    return found[name](conf)


@functools.cache
def _installed():
    """{name: class}; looked for once, for a hunt asks at each of its plans."""
    return {each.name: each.plugin for each in stevedore.ExtensionManager(
        NAMESPACE, on_load_failure_callback=_broken)}


def _broken(manager, entry_point, error):
    raise errors.BadField(field='acquire.strategy', reason=(
        f'the strategy {entry_point.name} does not load: {error}.'))
