# SPDX-License-Identifier: Apache-2.0
"""The base class of the interfaces to Nova, and Nova's lists of servers, by novaclient."""
import functools

from novaclient import api_versions
from novaclient import client as nova_client
from novaclient import exceptions as nova_errors
from oslo_log import log

from climate import errors
from climate.cloud import base
from climate.cloud import models

LOG = log.getLogger(__name__)

# From microversion 2.20 on, Nova also detaches from a server that is shelved and offloaded.
VERSION = '2.90'
# The microversion from which on Nova shows the scheduler hints of a server. The zone of a server is
# shown from an earlier one on.
_HINTS_VERSION = '2.100'
_FIRST_ERROR = 400


class NovaInterface(base.ServiceInterface):
    """An interface whose calls novaclient makes."""

    def __init__(self, connection):
        super().__init__(connection)
        self._client = connected(connection, VERSION)

    def _busy(self, error):
        """Return a StillBusy with the reason of an error of Nova."""
        return errors.StillBusy(service=self.service, reason=str(error))


class ServerLists:
    """Servers of all projects, with their scheduler hints and zones if Nova shows them."""

    def __init__(self, connection):
        self._plain = connected(connection, VERSION)
        self._hinted = connected(connection, VERSION)
        # novaclient refuses to be created with a microversion that it does not know. For a server
        # this one only adds fields.
        self._hinted.client.api_version = api_versions.APIVersion(_HINTS_VERSION)
        self._shows_hints = True

    def find(self, **filters):
        """Return the Servers that match, such as those with ``host='compute-1'``."""
        return [server_of(shown) for shown in self._called(
            lambda client: client.servers.list(search_opts={'all_tenants': 1, **filters},
                                               limit=-1))]

    def one(self, server_id):
        """Return the Server of that id.

        :raises NotFound: there is none.
        """
        return server_of(self._called(lambda client: client.servers.get(server_id)))

    def _called(self, call):
        if self._shows_hints:
            try:
                return call(self._hinted)
            except nova_errors.NotAcceptable:
                self._shows_hints = False
                LOG.info('Nova is older than microversion %s and does not show the scheduler hints '
                         'of servers; Climate requests them again after a restart',
                         _HINTS_VERSION)
        return call(self._plain)


def connected(connection, version):
    """Return a novaclient Client for that microversion."""
    options = connection.options
    made = nova_client.Client(
        version, session=connection.session, service_type=options.service_type,
        service_name=options.service_name, endpoint_type=options.valid_interfaces,
        region_name=connection.region_name,
        endpoint_override=options.endpoint_override, connect_retries=options.connect_retries,
        status_code_retries=options.status_code_retries)
    made.client.request = functools.partial(_request, made.client.request)
    return made


def _request(request, url, method, raise_exc=True, **options):
    """Make a request of novaclient, which fails at an error that does not have Nova's form.

    Such errors come from a proxy in front of Nova, or from another service at a wrong endpoint.
    """
    response, body = request(url, method, raise_exc=False, **options)
    if raise_exc and response.status_code >= _FIRST_ERROR:
        known = isinstance(body, dict) and (
            'message' in body or isinstance(next(iter(body.values()), None), dict))
        raise nova_errors.from_response(response, body if known else None, url, method)
    return response, body


def sorted_servers(client, **filters):
    """Return the Servers of all projects that match, oldest first."""
    return [server_of(shown) for shown in client.servers.list(
        search_opts={'all_tenants': 1, **filters}, limit=-1, sort_keys=['created_at'],
        sort_dirs=['asc'])]


def server_of(resource):
    """Return a server of novaclient as a Server."""
    # A dict, because novaclient makes another call for a missing attribute.
    shown = resource.to_dict()
    flavor = shown.get('flavor') or {}
    return models.Server(
        # Nova omits most fields of a server in a cell that is down.
        id=shown['id'], name=shown.get('name') or '', host=shown.get('OS-EXT-SRV-ATTR:host'),
        project_id=shown['tenant_id'], status=shown['status'],
        task=shown.get('OS-EXT-STS:task_state'), metadata=dict(shown.get('metadata') or {}),
        flavor=_own_flavor(flavor) if 'original_name' in flavor else None,
        locked=bool(shown.get('locked')),
        hypervisor=shown.get('OS-EXT-SRV-ATTR:hypervisor_hostname'), hints=_hints(shown),
        zone=shown.get('pinned_availability_zone'))


def _hints(shown):
    """Return the scheduler hints of a server, or None if Nova does not show them."""
    if 'scheduler_hints' not in shown:
        return None
    return {name: tuple(value) if isinstance(value, list) else (value,)
            for name, value in (shown['scheduler_hints'] or {}).items()}


def _own_flavor(shown):
    """Return the flavor that Nova stores with a server, and shows without its id."""
    return models.Flavor(
        id='', name=shown['original_name'], vcpus=shown['vcpus'], ram=shown['ram'],
        disk=shown['disk'], ephemeral=shown['ephemeral'], swap=shown['swap'],
        extra_specs=dict(shown.get('extra_specs') or {}))
