# SPDX-License-Identifier: Apache-2.0
"""The client of Climate: a library, the ``climate`` command and a plug-in for ``openstack``.

::

    from climate import client

    climate = client.Client(session)          # a keystoneauth session
    lease = climate.leases.create('demo', duration='2h', reservations=[…])
    climate.leases.wait(lease['id'])

The client imports nothing of the server. ``Client`` is imported lazily, so that ``climate --help``
does not load an HTTP library.
"""
import typing

if typing.TYPE_CHECKING:
    from climate.client.service import Client

__all__ = ['Client']


def __getattr__(name: str) -> typing.Any:
    if name == 'Client':
        from climate.client import service
        return service.Client
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
