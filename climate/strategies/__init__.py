# SPDX-License-Identifier: Apache-2.0
"""The strategies that choose which hosts are cleared for a best-effort lease, one in each file."""
from climate import errors
from climate import loading

_GROUP = 'climate.acquire.strategies'


def check(conf):
    """Check that all installed strategies load and that the configured one is installed.

    :raises ConfigurationError: [acquire] migration_strategy is not installed, or one does not
        load.
    """
    loading.load(_GROUP, [conf.acquire.migration_strategy], '[acquire] migration_strategy')
    loading.load(_GROUP, loading.installed(_GROUP), _GROUP)


def names():
    """Return the sorted names of all usable strategies."""
    return sorted(loading.load_usable(_GROUP))


def load(conf, name):
    """Return a Strategy by its name.

    :raises BadField: no usable strategy has that name; the error names the usable ones.
    """
    usable = loading.load_usable(_GROUP)
    if name not in usable:
        raise errors.BadField(field='acquire.strategy', reason=(
            f'"{name[:80]}" is not installed; known are: {", ".join(sorted(usable)) or "none"}.'))
    return usable[name](conf)
