# SPDX-License-Identifier: Apache-2.0
"""The registry of adapters: it loads all that are used, or names the one that cannot be used."""
import functools
from importlib import metadata

from stevedore import named

from climate import conf as configuration
from climate import errors
from climate.cloud import base
from climate.conf import checking

DRIVERS = ('openstack', 'simulated')
#: Services that Climate itself uses: {name: (who uses it and what for,)}.
OWN = {'keystone': ('the manager, for trusts',)}


class Unusable(errors.Unusable):
    """An adapter cannot be used; the text says which one, why, and who uses it."""


def namespace(driver):
    """Return the name of the entry-point group with the adapters of a driver."""
    return f'climate.cloud.{driver}'


def load(conf, driver, wanted=None):
    """Return {name: Adapter class} of the wanted adapters and of those that Climate itself uses.

    This registers their options in `conf`.

    :param wanted: {name: the plugins that use it}; None: all installed adapters.
    :raises Unusable: one is missing, broken or wrongly configured.
    """
    if wanted is None:
        wanted = dict.fromkeys(_installed(driver), ('nobody',))
    wanted = {**wanted, **OWN}
    found = _loaded(driver, tuple((name, ', '.join(by)) for name, by in sorted(wanted.items())))
    register(conf, found)
    if driver != 'simulated':
        for adapter in found.values():
            adapter.options.check(conf)
    return found


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
    found = {adapter.options.name: adapter.options for driver in DRIVERS
             for adapter in _loaded(driver, tuple((name, 'nobody') for name in
                                                  _installed(driver))).values()}
    return [pair for name, options in sorted(found.items()) if name not in known
            for pair in options.list_opts()]


def checked(driver, adapters, users):
    """Check adapters and return them: {name: Adapter class}.

    :param users: {name: who uses it, in words}.
    :raises Unusable: one is not an Adapter of that name, or two have the same face.
    """
    owners = {}
    for name, adapter in adapters.items():
        if not (isinstance(adapter, type) and issubclass(adapter, base.Adapter)
                and adapter.options.name == name):
            raise Unusable(f'{namespace(driver)}: "{name}", which {users[name]} uses, is not an '
                           'Adapter with an option group of that name.')
        for face in adapter.faces:
            other = owners.setdefault(face, name)
            if other != name:
                raise Unusable(f'{namespace(driver)}: both "{other}" and "{name}" have the face '
                               f'"{face}".')
    return adapters


@functools.cache
def _installed(driver):
    return tuple(sorted({each.name for each in metadata.entry_points(group=namespace(driver))}))


@functools.cache
def _loaded(driver, wanted):
    """Load and return {name: Adapter class}, once in a process.

    :param wanted: pairs (name, who uses it, in words).
    """
    users = dict(wanted)

    def missing(absent):
        name = min(absent)
        known = ', '.join(_installed(driver)) or 'none'
        raise Unusable(f'{namespace(driver)}: "{name}", which {users[name]} uses, is not '
                       f'installed; installed are: {known}.')

    def broken(_manager, entry_point, error):
        raise Unusable(f'{namespace(driver)}: "{entry_point.name}", which '
                       f'{users[entry_point.name]} uses, does not load: {error}')

    found = named.NamedExtensionManager(
        namespace(driver), list(users), on_missing_entrypoints_callback=missing,
        on_load_failure_callback=broken)
    return checked(driver, {each.name: each.plugin for each in found}, users)
