# SPDX-License-Identifier: Apache-2.0
"""The registry of the installed methods of forecasts."""
import functools

from oslo_log import log
import stevedore

from climate import errors
from climate import version

LOG = log.getLogger(__name__)

NAMESPACE = 'climate.forecasts'
AUTO = 'auto'
#: The methods that "auto" tries, the best first. The last one needs no further library.
PREFERRED = ('holt-winters', 'seasonal-naive')


class Unusable(errors.ConfigurationError):
    """A method cannot be used; the text says which one and why."""


def check(conf):
    """Check that the configured method is installed.

    :raises Unusable: [forecast] method is not installed.
    """
    wanted = conf.forecast.method
    if wanted == AUTO:
        # The methods are loaded when they are needed.
        return
    found = _usable()
    if wanted not in found:
        raise Unusable(
            f'[forecast] method: "{wanted}" is not installed; installed are: '
            f'{", ".join(sorted(found))}. holt-winters needs "python3 -m pip install '
            f"'{version.DISTRIBUTION}[forecast]'\".")


def load(name, hours):
    """Return (the name, the Method) for a series of that many hours.

    :param name: the value of [forecast] method.
    """
    found = _usable()
    names = PREFERRED if name == AUTO else (name, PREFERRED[-1])
    for each in names:
        if each in found and found[each].least_hours <= hours:
            return each, found[each]()
    return PREFERRED[-1], found[PREFERRED[-1]]()


@functools.cache
def _usable():
    """Return {name: class}, loaded once, because a library of statistics loads slowly."""
    return {each.name: each.plugin for each in stevedore.ExtensionManager(
        NAMESPACE, on_load_failure_callback=_leave_out)}


def _leave_out(_manager, entry_point, error):
    LOG.info('Method of forecasts %s cannot be used: %s', entry_point.name, error)
