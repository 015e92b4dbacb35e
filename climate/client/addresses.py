# SPDX-License-Identifier: Apache-2.0
"""Where the services are: what was given wins over the catalogue."""
import re

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as foreign

from climate.client import errors

_VERSIONED = re.compile(r'/v\d[\d.]*$')


def of_reservations(transport: adapter.Adapter) -> str:
    """The address of the reservation service, with a version at its end.

    :raises ServiceMissing: nobody says where it is.
    """
    base = transport.endpoint_override or _catalogued(transport)
    if not base:
        raise errors.ServiceMissing(
            f'The catalogue has no "{transport.service_type}" service for this region and '
            'interface. Give --os-region-name or --os-interface, or the address itself with '
            '--os-reservation-endpoint-override.')
    base = base.rstrip('/')
    return base if _VERSIONED.search(base) else base + '/v1'


def of_compute(transport: adapter.Adapter, reservations: adapter.Adapter) -> str:
    """The address of the compute service.

    :raises ServiceMissing: this cloud has none, as with a Climate that runs by itself.
    """
    if transport.endpoint_override:
        return transport.endpoint_override.rstrip('/')
    base = _catalogued(transport)
    # A login without a catalogue has one address, and gives it for every service.
    if not base or base == _catalogued(reservations):
        raise errors.ServiceMissing(
            'No compute service is known here, so that servers have no names: give the id of '
            'the server, or the address of Nova with --os-compute-endpoint-override.')
    return base.rstrip('/')


def _catalogued(transport: adapter.Adapter) -> str | None:
    try:
        return transport.get_endpoint()
    except foreign.CatalogException:
        return None
