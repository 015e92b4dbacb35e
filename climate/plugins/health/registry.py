# SPDX-License-Identifier: Apache-2.0
"""The registry of the sources of health that are enabled."""
import stevedore

from climate import errors
from climate.conf import checking

NAMESPACE = 'climate.health'


class Unusable(errors.ConfigurationError):
    """A source cannot be used; the text says which one and why."""


def load(conf):
    """Return {name: Source} of the sources that [health] sources names, in that order.

    :raises Unusable: one is not installed, or does not load.
    """
    def refuse(_manager, entry_point, error):
        raise Unusable(f'{NAMESPACE}: {entry_point.name} does not load: {error}')

    wanted = list(dict.fromkeys(conf.health.sources))
    if not wanted:
        return {}
    found = {each.name: each.plugin for each in stevedore.ExtensionManager(
        NAMESPACE, on_load_failure_callback=refuse)}
    for name in wanted:
        if name not in found:
            raise Unusable(f'[health] sources: "{name}" is not installed; installed are: '
                           f'{", ".join(sorted(found)) or "none"}.')
    if 'http' in wanted and not conf.health.http_url:
        raise Unusable('[health] http_url is not set, and [health] sources names http.')
    if 'http' in wanted:
        checking.url(conf, 'health', 'http_url')
        checking.file(conf, 'health', 'http_ca_file')
    return {name: found[name](conf) for name in wanted}
