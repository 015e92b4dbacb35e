# SPDX-License-Identifier: Apache-2.0
"""The plug-in for ``openstack``: the same commands, as ``openstack reservation …``.

The plug-in is called "climate", because python-blazarclient has the name "reservation", and both
can be installed side by side.
"""
import argparse
import typing

if typing.TYPE_CHECKING:
    from climate.client import service

API_NAME = 'climate'
API_VERSION_OPTION = 'os_climate_api_version'
API_VERSIONS = ('1',)
DEFAULT_API_VERSION = '1'


def make_client(instance: typing.Any) -> 'service.Client':
    """Make the client for a command; `instance` is the ClientManager of openstack."""
    from climate.client import service
    configured = instance.get_configuration()
    return service.Client(
        instance.session, interface=instance.interface, region_name=instance.region_name,
        endpoint_override=configured.get('reservation_endpoint_override'),
        compute_endpoint=configured.get('compute_endpoint_override'))


def build_option_parser(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the global options of the plug-in to `parser`, and return it."""
    parser.add_argument(
        '--os-climate-api-version', metavar='<climate-api-version>',
        help=f'Version of the Climate API, default: {DEFAULT_API_VERSION} '
             '(Env: OS_CLIMATE_API_VERSION)')
    return parser
