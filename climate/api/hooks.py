# SPDX-License-Identifier: Apache-2.0
"""What happens around every request: who asks, in which version, and how errors are told."""
import contextlib
import json

from oslo_log import log
from pecan import hooks
import webob

from climate import context
from climate import errors
from climate.api import microversion

LOG = log.getLogger(__name__)

_CALLER = 'climate.caller'
_VERSION = 'climate.version'
_CHANGING = ('POST', 'PUT', 'PATCH', 'DELETE')


def caller(request):
    """The RequestContext of a request."""
    return request.environ[_CALLER]


def version(request):
    """The REST Version of a request."""
    return request.environ[_VERSION]


def is_lenient(request):
    """True where the request speaks REST 1.0."""
    return version(request) == microversion.MINIMUM


class RequestHook(hooks.PecanHook):
    """Reads who asks and in which version, before the URL is looked up."""

    priority = 10

    def on_route(self, state):
        request = state.request
        # Everything is JSON, whatever the caller says that it accepts.
        request.accept = 'application/json'
        request.environ[_CALLER] = context.RequestContext.from_environ(request.environ)
        path = request.path_info
        if path.startswith('/v1/'):
            request.environ[_VERSION] = microversion.of_request(request.headers)
        if path != '/' and path.endswith('/'):
            raise webob.exc.HTTPNotFound()

    def after(self, state):
        found = state.request.environ.get(_VERSION)
        if found is not None and state.controller is not None:
            state.response.headers.update(microversion.headers_of(found))
        if state.response.status_int == 204:
            # Pecan has written a "null" there.
            state.response.body = b''


class ErrorHook(hooks.PecanHook):
    """Tells errors in the form of the request's version; what nobody meant is a plain 500."""

    priority = 20

    def on_error(self, state, error):
        if isinstance(error, webob.exc.HTTPException):
            return _framework_error(state.request, error)
        if not isinstance(error, errors.ClimateError):
            LOG.error('%s %s failed', state.request.method, state.request.path, exc_info=error)
            error = errors.ClimateError()
        response = _answer(state.request, error)
        if isinstance(error, errors.ManagerSilent) and state.request.method in _CHANGING:
            # Where it is seen whether the work went on.
            response.headers.setdefault('Location', state.request.path_url)
        return response


def refused(environ, error):
    """The WSGI answer to a request that is refused before it was looked at."""
    request = webob.Request(environ)
    # One of a version that is not served is told in the form of no version.
    with contextlib.suppress(errors.ClimateError):
        environ[_VERSION] = microversion.of_request(request.headers)
    return _answer(request, error)


def refused_url(environ, start_response):
    """The WSGI answer to a URL that cannot be read."""
    return _json(400, {'error': 400, 'error_message': (
        'The URL must be UTF-8 text without the character 0.')})(environ, start_response)


def _answer(request, error):
    response = _json(error.status, _body(request, error))
    for header, detail in (('Retry-After', 'retry_after'), ('Location', 'location')):
        if detail in error.kwargs:
            response.headers[header] = str(error.kwargs[detail])
    return response


def _body(request, error):
    found = request.environ.get(_VERSION)
    # REST 1.0 tells a foreign content type as it tells a foreign URL.
    if found is None or (found == microversion.MINIMUM
                         and isinstance(error, errors.UnsupportedMediaType)):
        return {'error': error.status, 'error_message': error.message}
    if found == microversion.MINIMUM:
        name = 'INTERNAL_SERVER_ERROR' if error.status == 500 else error.status
        return {'error_code': error.status, 'error_message': error.message, 'error_name': name}
    return {'error_code': error.status, 'error_name': error.code,
            'error_message': error.message, 'details': error.details,
            'request_id': request.environ.get('openstack.request_id')}


def _framework_error(request, error):
    text = {404: f'Nothing is at {request.path}.',
            405: f'{request.method} does nothing at {request.path}.'}
    if 300 <= error.status_int < 400:
        return error
    response = _json(error.status_int, {
        'error': error.status_int,
        'error_message': text.get(error.status_int, error.detail or error.title)})
    response.allow = error.allow
    return response


def _json(status, body):
    return webob.Response(status=status, content_type='application/json', charset='utf-8',
                          body=json.dumps(body).encode())
