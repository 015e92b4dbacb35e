# SPDX-License-Identifier: Apache-2.0
"""The authentication types of keystoneauth, which are loaded lazily."""
import typing

from keystoneauth1 import exceptions as foreign

from climate.client import errors


def option_names(auth_type: str | None) -> list[str]:
    """List the option names of an authentication type, or of all types if it is None."""
    from keystoneauth1 import loading
    if auth_type:
        loaders = [loader(auth_type)]
    else:
        loaders = list(loading.get_available_plugin_loaders().values())
    return sorted({opt.name for each in loaders for opt in each.get_options()})


def loader(auth_type: str) -> typing.Any:
    """Return keystoneauth's loader of an authentication type.

    :raises NotConfigured: the type does not exist; the message lists the types that do.
    """
    from keystoneauth1 import loading
    try:
        return loading.get_plugin_loader(auth_type)
    except foreign.NoMatchingPlugin:
        names = ', '.join(sorted(loading.get_available_plugin_names()))
        raise errors.NotConfigured(
            f'--os-auth-type: there is no authentication type "{auth_type}"; known are: '
            f'{names}.') from None
