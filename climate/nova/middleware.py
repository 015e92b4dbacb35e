# SPDX-License-Identifier: Apache-2.0
"""The WSGI filter of nova-api that boots servers with a lease, as one thing.

In api-paste.ini, behind keystonecontext in both pipelines::

    [filter:climate]
    paste.filter_factory = climate.nova.middleware:filter_factory

The lease is made first, so that whatever speaks against it is said before there is a server; then
Nova makes the servers, which name it in their metadata; then it is bound to them. Whoever is killed
in between leaves a lease that Climate's manager binds itself, or ends.
"""
import uuid

import nova.conf
from oslo_log import log

from climate.nova import boots
from climate.nova import errors
from climate.nova import hints
from climate.nova import leases
from climate.nova import options
from climate.nova import wsgi

LOG = log.getLogger(__name__)

# The second is an old name that Nova still knows for the first.
_PATHS = ('/servers', '/os-volumes_boot')
_HEADER = 'X-Climate-Lease-Id'


def filter_factory(global_conf, **local_conf):
    """What paste makes the filter with; the options are those of [climate] in nova.conf.

    :raises AuthPluginException: there is no way to Climate, or it cannot be used as written.
    """
    conf = nova.conf.CONF
    options.register(conf)
    climate = leases.Leases(options.way(conf), (conf.climate.timeout, conf.climate.lease_seconds))
    return lambda app: LeaseMiddleware(app, climate, options.defaults(conf))


class LeaseMiddleware:
    """nova-api that gives servers a lease when they are made."""

    def __init__(self, app, climate, defaults):
        """Nothing is asked yet.

        :param app: what is behind it, nova-api in the end.
        :param climate: the Leases.
        :param defaults: the options.Defaults, for requests that say nothing of a lease.
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
            lease = self._made(environ, caller)
        except errors.Refused as error:
            return wsgi.refuse(error, start_response)
        if lease is None:
            return self._app(environ, start_response)
        return self._booted(environ, lease, caller).send(start_response)

    def _made(self, environ, caller):
        """The Lease of the request, which then names it; None where it gets none."""
        body = wsgi.document(environ)
        if body is None or not isinstance(body.get('server'), dict):
            # Nova knows best what is wrong with it.
            return None
        hinted = hints.read(body)
        params = hints.wanted(hinted, self._defaults.days_for(environ.get('HTTP_X_PROJECT_ID')))
        if params is None:
            if hinted.reserved is not None:
                wsgi.put(environ, hints.without(body))
            return None
        lease = self._climate.make(boots.lease_of(body['server'], params), caller)
        wsgi.put(environ, boots.leased(body, lease))
        return lease

    def _booted(self, environ, lease, caller):
        """Nova's Answer; the lease is dropped where there is none, or a refusal."""
        answer = None
        try:
            answer = wsgi.Answer(self._app, environ)
        finally:
            if answer is None or not answer.is_success:
                self._drop(lease, caller)
        if answer.is_success:
            self._bind(lease, _server_id(answer), caller)
            answer.headers.append((_HEADER, lease.id))
        return answer

    def _drop(self, lease, caller):
        try:
            self._climate.drop(lease.id, caller)
        except errors.Refused as error:
            LOG.warning('Lease %s has no server and could not be deleted; Climate ends it when '
                        'its time to be bound is over: %s', lease.id, error)
        else:
            LOG.info('Lease %s is deleted again: Nova has not made its servers', lease.id)

    def _bind(self, lease, server_id, caller):
        if server_id is None or len(lease.reservation_ids) > 1:
            LOG.debug('Lease %s: Climate finds its servers by their metadata', lease.id)
            return
        try:
            self._climate.bind(lease.reservation_ids[0], server_id, caller)
        except errors.Refused as error:
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
    return leases.Caller(environ.get('HTTP_X_AUTH_TOKEN', ''),
                         request_id or f'req-{uuid.uuid4()}')


def _server_id(answer):
    """The id of the server that was made; None where Nova was asked for another answer."""
    found = answer.json()
    server = found.get('server') if isinstance(found, dict) else None
    return server.get('id') if isinstance(server, dict) else None
