# SPDX-License-Identifier: Apache-2.0
"""Power drivers: they switch machines on and off, such as by the BMC of a host."""
from climate import loading


def load(conf, cloud):
    """Return the Driver that [energy] driver names; None if it names none.

    :raises ConfigurationError: it is not installed, does not load, or its options are wrong.
    """
    name = conf.energy.driver
    if not name:
        return None
    return loading.load('climate.power', [name], '[energy] driver')[name](conf, cloud)
