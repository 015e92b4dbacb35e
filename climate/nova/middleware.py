# SPDX-License-Identifier: Apache-2.0
"""The WSGI filter of nova-api that creates a lease for servers when they are booted.

Configure it in api-paste.ini, after keystonecontext in both pipelines::

    [filter:climate]
    paste.filter_factory = climate.nova.middleware:filter_factory

The lease is created first, so that no server exists if it is refused. Then Nova creates the
servers, whose metadata names the lease. Finally the lease is bound to the servers. If nova-api is
killed before that, Climate's manager binds the lease, or ends it.

If a request names an existing lease, the hint is replaced by the only reservation of this lease.
"""
import uuid

import nova.conf
from oslo_log import log

from climate.nova import boots
from climate.nova import errors
from climate.nova import lease_client
from climate.nova import lease_hints
from climate.nova import options
from climate.nova import wsgi

LOG = log.getLogger(__name__)

# Nova still accepts the second path, which is the old name of the first.
_PATHS = ('/servers', '/os-volumes_boot')
_HEADER = 'X-Climate-Lease-Id'


def filter_factory(global_conf, **local_conf):
    """Return the callable with which paste wraps nova-api; options come from nova.conf [climate].

    :raises AuthPluginException: the options of the login or of the address are missing or wrong.
    """
    conf = nova.conf.CONF
    options.register(conf)
    climate = lease_client.LeaseClient(
        options.user_adapter(conf), (conf.climate.timeout, conf.climate.lease_seconds))
    return lambda app: LeaseMiddleware(app, climate, options.defaults(conf))


class LeaseMiddleware:
    """A WSGI application that creates a lease for servers before nova-api boots them."""

    def __init__(self, app, climate, defaults):
        """Prepare the filter without calling Climate.

        :param app: the next WSGI application of the pipeline.
        :param climate: the LeaseClient.
        :param defaults: the DefaultLease, for requests that do not mention a lease.
        """
        self._app = app
        self._climate = climate
        self._defaults = defaults

    def __call__(self, environ, start_response):
        """Serve one request."""
        if not _boots(environ):
            return self._app(environ, start_response)
        caller = _caller(environ)
        try:
            lease = self._create(environ, caller)
        except errors.BootRefused as error:
            return wsgi.refuse(error, start_response)
        if lease is None:
            return self._app(environ, start_response)
        return self._boot(environ, lease, caller).send(start_response)

    def _create(self, environ, caller):
        """Create the lease of the request and name it in the request body.

        :returns: the CreatedLease, or None if the request gets no lease.
        """
        body = wsgi.document(environ)
        if body is None or not isinstance(body.get('server'), dict):
            # Nova refuses such a body with its own message.
            return None
        hints = lease_hints.read(body)
        params = lease_hints.lease_params(
            hints, self._defaults.days_for(environ.get('HTTP_X_PROJECT_ID')))
        if params is None:
            forwarded = body if hints.reserved is None else lease_hints.without(body)
            reservation_id = hints.named_id and self._climate.reservation_of(
                hints.named_id, caller)
            if reservation_id:
                forwarded = boots.naming(forwarded, reservation_id)
            if forwarded is not body:
                wsgi.put(environ, forwarded)
            return None
        try:
            lease = self._climate.make(boots.lease_of(body['server'], params), caller)
        except errors.LeasedAlready as error:
            if hints.reserved:
                raise
            LOG.debug('No default lease for request %s: %s', caller.request_id, error)
            forwarded = lease_hints.without(body)
            if forwarded != body:
                wsgi.put(environ, forwarded)
            return None
        wsgi.put(environ, boots.leased(body, lease))
        return lease

    def _boot(self, environ, lease, caller):
        """Return Nova's Response. If Nova fails or refuses, delete the lease."""
        response = None
        try:
            response = wsgi.Response(self._app, environ)
        finally:
            if response is None or not response.is_success:
                self._drop(lease, caller)
        if response.is_success:
            self._bind(lease, _server_id(response), caller)
            response.headers.append((_HEADER, lease.id))
        return response

    def _drop(self, lease, caller):
        try:
            self._climate.drop(lease.id, caller)
        except errors.BootRefused as error:
            LOG.warning('Lease %s has no server and could not be deleted; Climate ends it after '
                        'the time within which it must be bound: %s', lease.id, error)
        else:
            LOG.info('Lease %s is deleted, because Nova did not create its servers', lease.id)

    def _bind(self, lease, server_id, caller):
        if server_id is None or len(lease.reservation_ids) > 1:
            LOG.debug('Lease %s: Climate finds its servers by their metadata', lease.id)
            return
        try:
            self._climate.bind(lease.reservation_ids[0], server_id, caller)
        except errors.BootRefused as error:
            LOG.warning('Lease %s could not be bound to server %s; Climate finds it by its '
                        'metadata: %s', lease.id, server_id, error)
        else:
            LOG.info('Lease %s is bound to server %s', lease.id, server_id)


def _boots(environ):
    path = environ.get('PATH_INFO', '').rstrip('/')
    return environ['REQUEST_METHOD'] == 'POST' and path.endswith(_PATHS)


def _caller(environ):
    context = environ.get('nova.context')
    request_id = getattr(context, 'request_id', None) or environ.get('openstack.request_id')
    return lease_client.BootCaller(environ.get('HTTP_X_AUTH_TOKEN', ''),
                                   request_id or f'req-{uuid.uuid4()}')


def _server_id(response):
    """Return the id of the server; None if the response has none (return_reservation_id)."""
    body = response.json()
    server = body.get('server') if isinstance(body, dict) else None
    return server.get('id') if isinstance(server, dict) else None
