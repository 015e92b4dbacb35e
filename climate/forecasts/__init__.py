# SPDX-License-Identifier: Apache-2.0
"""Forecasts of a series by hours: the methods, and the choice of the best model with its bands."""
import logging

from climate import loading

_GROUP = 'climate.forecasts'
_AUTO = 'auto'
#: The methods that "auto" tries, the best first. The last one needs no further library.
PREFERRED = ('holt-winters', 'simple')


def check(conf):
    """Check that the configured method is installed; with "auto", none is loaded before its use.

    :raises ConfigurationError: [forecast] method is not installed.
    """
    if conf.forecast.method != _AUTO:
        loading.load(_GROUP, [conf.forecast.method], '[forecast] method')


def load(name, hours):
    """Return (the name, the Method) for a series of that many hours.

    :param name: the value of [forecast] method.
    """
    usable = loading.load_usable(_GROUP, logging.INFO)
    names = PREFERRED if name == _AUTO else (name, PREFERRED[-1])
    chosen = next((tried for tried in names
                   if tried in usable and usable[tried].least_hours <= hours), PREFERRED[-1])
    return chosen, usable[chosen]()
