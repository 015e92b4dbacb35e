# SPDX-License-Identifier: Apache-2.0
"""The plug-in of ``openstack``: the same commands, as ``openstack reservation …``.

The name towards ``openstack`` is "climate", not "reservation": that one is python-blazarclient's,
and both can be installed side by side.
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
    """The client for a command; `instance` is openstack's own manager of sessions."""
    from climate.client import service
    configured = instance.get_configuration()
    return service.Client(
        instance.session, interface=instance.interface, region_name=instance.region_name,
        endpoint_override=configured.get('reservation_endpoint_override'),
        compute_endpoint=configured.get('compute_endpoint_override'))


def build_option_parser(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """`parser` with our global options added."""
    parser.add_argument(
        '--os-climate-api-version', metavar='<climate-api-version>',
        help=f'Version of the Climate API, default: {DEFAULT_API_VERSION} '
             '(Env: OS_CLIMATE_API_VERSION)')
    return parser
