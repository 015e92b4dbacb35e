# SPDX-License-Identifier: Apache-2.0
"""Power drivers switch machines on and off, for example by the BMC of a host."""
from climate import loading


def load(conf, cloud):
    """Return the Driver that [energy] driver names; None if the option is empty.

    :raises ConfigurationError: the driver is not installed, does not load, or has wrong options.
    """
    name = conf.energy.driver
    if not name:
        return None
    return loading.load('climate.power', [name], '[energy] driver')[name](conf, cloud)
