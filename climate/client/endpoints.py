# SPDX-License-Identifier: Apache-2.0
"""Endpoints of the services; an option overrides the catalogue."""
import re

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as foreign

from climate.client import errors

_VERSIONED = re.compile(r'/v\d[\d.]*$')


def of_reservations(transport: adapter.Adapter) -> str:
    """Return the URL of the reservation service, including its version.

    :raises ServiceMissing: neither an option nor the catalogue has the URL.
    """
    base = transport.endpoint_override or _catalogued(transport)
    if not base:
        raise errors.ServiceMissing(
            f'The catalogue has no "{transport.service_type}" service for this region and '
            'interface. Give --os-region-name or --os-interface, or the URL itself with '
            '--os-reservation-endpoint-override.')
    base = base.rstrip('/')
    return base if _VERSIONED.search(base) else base + '/v1'


def of_compute(transport: adapter.Adapter, reservations: adapter.Adapter) -> str:
    """Return the URL of the compute service.

    :raises ServiceMissing: this cloud has none, for example a standalone Climate.
    """
    if transport.endpoint_override:
        return transport.endpoint_override.rstrip('/')
    base = _catalogued(transport)
    # A login without a catalogue returns the same URL for every service.
    if not base or base == _catalogued(reservations):
        raise errors.ServiceMissing(
            'No compute service is known here to look up the names of servers: give the id of '
            'the server, or the URL of Nova with --os-compute-endpoint-override.')
    return base.rstrip('/')


def _catalogued(transport: adapter.Adapter) -> str | None:
    try:
        return transport.get_endpoint()
    except foreign.CatalogException:
        return None
