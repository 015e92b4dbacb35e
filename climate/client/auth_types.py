# SPDX-License-Identifier: Apache-2.0
"""The ways to log in that keystoneauth knows. They are looked up only when they are asked for."""
import typing

from keystoneauth1 import exceptions as foreign

from climate.client import errors


def option_names(auth_type: str | None) -> list[str]:
    """Names of the options of a way to log in; of all of them if it is not said which."""
    from keystoneauth1 import loading
    if auth_type:
        loaders = [loader(auth_type)]
    else:
        loaders = list(loading.get_available_plugin_loaders().values())
    return sorted({opt.name for each in loaders for opt in each.get_options()})


def loader(auth_type: str) -> typing.Any:
    """keystoneauth's loader of a way to log in.

    :raises NotConfigured: there is no such way; the message names those that there are.
    """
    from keystoneauth1 import loading
    try:
        return loading.get_plugin_loader(auth_type)
    except foreign.NoMatchingPlugin:
        names = ', '.join(sorted(loading.get_available_plugin_names()))
        raise errors.NotConfigured(
            f'--os-auth-type: there is no way to log in called "{auth_type}"; there are: '
            f'{names}.') from None
