# SPDX-License-Identifier: Apache-2.0
"""Drivers that ask a service outside Climate whether a lease may be made, and report leases."""
from climate import loading


def load(conf, cloud):
    """Return the EnforcementDriver that [enforcement] driver names; None if the option is empty.

    :raises ConfigurationError: the driver is not installed, does not load, or has wrong options.
    """
    name = conf.enforcement.driver
    if not name:
        return None
    driver = loading.load('climate.enforcement', [name], '[enforcement] driver')[name](conf, cloud)
    driver.check()
    return driver
