# SPDX-License-Identifier: Apache-2.0
"""The registry of adapters: all that are used, or an error that names the unusable one."""
import functools

from climate import conf as configuration
from climate import errors
from climate import loading
from climate.cloud import base
from climate.conf import checking

DRIVERS = ('openstack', 'simulated')
#: Services that Climate itself uses: {name: (who uses it and what for,)}.
OWN = {'keystone': ('the manager, for trusts',)}


def namespace(driver):
    """Return the name of the entry-point group with the adapters of a driver."""
    return f'climate.cloud.{driver}'


def load(conf, driver, users=None):
    """Return {name: Adapter class} of the used adapters, with those that Climate itself uses.

    This registers their options in `conf`.

    :param users: {name: the plugins that use it}; None: all installed adapters.
    :raises ConfigurationError: one is missing, broken or wrongly configured.
    """
    if users is None:
        users = dict.fromkeys(loading.installed(namespace(driver)), ('nobody',))
    adapters = _loaded(driver, tuple((name, ', '.join(plugins)) for name, plugins in sorted(
        {**users, **OWN}.items())))
    register(conf, adapters)
    if driver != 'simulated':
        for adapter in adapters.values():
            adapter.options.check(conf)
    return adapters


def register(conf, adapters):
    """Register the option groups of these adapters in `conf`, and read each option once.

    Groups that are registered already were checked when the file was read.

    :raises WrongValue: an option has a value that it does not accept.
    """
    for adapter in adapters.values():
        if adapter.options.is_in(conf):
            continue
        adapter.options.register(conf)
        checking.values(conf, adapter.options.list_opts())


def list_opts():
    """Return [(group, options)] of all installed adapters that ``climate.conf`` does not list."""
    known = {str(group) for group, _ in configuration.list_opts()}
    groups = {adapter.options.name: adapter.options for driver in DRIVERS
              for adapter in _loaded(driver, tuple(
                  (name, 'nobody') for name in loading.installed(namespace(driver)))).values()}
    return [pair for name, options in sorted(groups.items()) if name not in known
            for pair in options.list_opts()]


def checked(driver, adapters, users):
    """Check adapters and return them: {name: Adapter class}.

    :param users: {name: its users, in words}.
    :raises ConfigurationError: one is not an Adapter of that name, or two have the same
        interface.
    """
    owners = {}
    for name, adapter in adapters.items():
        if not (isinstance(adapter, type) and issubclass(adapter, base.Adapter)
                and adapter.options.name == name):
            raise errors.ConfigurationError(
                f'{namespace(driver)}: "{name}", which {users[name]} uses, is not an Adapter with '
                'an option group of that name.')
        for interface in adapter.interfaces:
            other = owners.setdefault(interface, name)
            if other != name:
                raise errors.ConfigurationError(
                    f'{namespace(driver)}: both "{other}" and "{name}" have the interface '
                    f'"{interface}".')
    return adapters


@functools.cache
def _loaded(driver, pairs):
    """Load and return {name: Adapter class}, once in a process.

    :param pairs: pairs (name, its users, in words).
    """
    users, group = dict(pairs), namespace(driver)
    return checked(driver, loading.load(group, users, group, users), users)
