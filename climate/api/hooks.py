# SPDX-License-Identifier: Apache-2.0
"""Pecan hooks of every request: store the caller and the REST version, and render errors."""
import contextlib
import json
import re

from oslo_log import log
from pecan import hooks
import webob

from climate import context
from climate import errors
from climate.api import error_names
from climate.api import microversion
from climate.api import owner_or_operator_text

LOG = log.getLogger(__name__)

_CALLER = 'climate.caller'
_VERSION = 'climate.version'
_ACCEPTED = 'climate.accepted'
#: Whether .json was removed from the end of the path.
JSON_SUFFIX = 'climate.json_suffix'
_REQUEST_ID = 'openstack.request_id'
# In these paths pecan would take the next part for an attribute of a controller, even __class__.
_ATTRIBUTE = re.compile('/(?:v1/|versions/)?_')
_CHANGING = ('POST', 'PUT', 'PATCH', 'DELETE')


def caller(request):
    """Return the RequestContext of a request."""
    return request.environ[_CALLER]


def version(request):
    """Return the REST Version of a request."""
    return request.environ[_VERSION]


def accepted(request):
    """Return the header Accept as the caller sent it, or None."""
    return request.environ.get(_ACCEPTED)


def is_lenient(request):
    """Return whether the request uses REST 1.0, which accepts bodies that 1.1 refuses."""
    return version(request) == microversion.MINIMUM


class RequestHook(hooks.PecanHook):
    """Stores the caller and the REST version of a request before the URL is routed.

    :param chameleon: whether a DELETE at REST 1.0 answers 200 instead of 204.
    """

    priority = 10

    def __init__(self, chameleon=False):
        super().__init__()
        self._chameleon = chameleon

    def on_route(self, state):
        request = state.request
        # pecan must always answer JSON. Reports read the original header for CSV.
        request.environ[_ACCEPTED] = request.headers.get('Accept')
        request.accept = 'application/json'
        request.environ[_CALLER] = context.RequestContext.from_environ(request.environ)
        path = request.path_info
        if path.startswith('/v1/'):
            request.environ[_VERSION] = microversion.of_request(request.headers)
            _check_scope(request.environ[_CALLER])
        if (path != '/' and path.endswith('/')) or _ATTRIBUTE.match(path):
            raise webob.exc.HTTPNotFound()

    def after(self, state):
        rest_version = state.request.environ.get(_VERSION)
        if rest_version is not None and state.controller is not None:
            state.response.headers.update(microversion.headers_of(rest_version))
        if state.response.status_int == 204:
            # Pecan writes "null" into an empty body.
            state.response.body = b''
            if self._chameleon and rest_version == microversion.MINIMUM:
                state.response.status = 200
                state.response.body = b'{}'


class ErrorHook(hooks.PecanHook):
    """Renders errors in the format of the request's version. An unexpected error is a plain 500.

    If the caller may not read the operators' version of a message, it is logged.
    """

    priority = 20

    def __init__(self, policy):
        super().__init__()
        self._policy = policy

    def on_error(self, state, error):
        if isinstance(error, webob.exc.HTTPException):
            return _framework_error(state.request, error)
        if not isinstance(error, errors.ClimateError):
            LOG.error('%s %s failed', state.request.method, state.request.path, exc_info=error)
            error = errors.ClimateError()
        operator = owner_or_operator_text.is_operator(
            self._policy, state.request.environ.get(_CALLER))
        if not operator and isinstance(error, errors.CloudError | errors.TrustRefused):
            LOG.warning('Request %s, %s %s: %s', state.request.environ.get(_REQUEST_ID),
                        state.request.method, state.request.path, error.message)
        response = _answer(state.request, error, operator)
        if isinstance(error, errors.ManagerSilent) and state.request.method in _CHANGING:
            # At this address the caller can see whether the manager carried out the request.
            response.headers.setdefault('Location', state.request.path_url)
        return response


def _check_scope(caller):
    """Check that the token of a caller, if there is one, belongs to a project.

    All rules of the policy have the scope type "project". But oslo.policy accepts a token without
    a scope as a project's token, and refuses tokens of the system or of a domain without a reason.
    """
    if caller.user_id and not caller.project_id:
        raise errors.WrongScope(
            scope='of the scope "system"' if caller.system_scope
            else 'of a domain' if caller.domain_id else 'without a scope')


def refused(environ, error):
    """Return the WSGI response to a request that is refused before it is routed."""
    request = webob.Request(environ)
    # If the version is not served, the error is rendered without a version.
    with contextlib.suppress(errors.ClimateError):
        environ[_VERSION] = microversion.of_request(request.headers)
    return _answer(request, error)


def refused_url(environ, start_response):
    """Respond, as a WSGI application, to a URL that cannot be decoded."""
    return _json(400, {'error': 400, 'error_message': (
        'The URL must be UTF-8 text without the character 0.')})(environ, start_response)


def _answer(request, error, operator=False):
    if request.environ.get(_VERSION) == microversion.MINIMUM:
        error = error_names.at_1_0(error)
    response = _json(error.status, _body(request, error, operator))
    for header, detail in (('Retry-After', 'retry_after'), ('Location', 'location')):
        if detail in error.kwargs:
            response.headers[header] = str(error.kwargs[detail])
    return response


def _body(request, error, operator):
    rest_version = request.environ.get(_VERSION)
    message, details = owner_or_operator_text.of_error(error, operator)
    # REST 1.0 renders the error of an unknown content type like the error of an unknown URL.
    if rest_version is None or (rest_version == microversion.MINIMUM
                                and isinstance(error, errors.UnsupportedMediaType)):
        return {'error': error.status, 'error_message': message}
    if rest_version == microversion.MINIMUM:
        name = 'INTERNAL_SERVER_ERROR' if error.status == 500 else error.status
        return {'error_code': error.status, 'error_message': message, 'error_name': name}
    return {'error_code': error.status, 'error_name': error_names.code(error),
            'error_message': message, 'details': details,
            'request_id': request.environ.get(_REQUEST_ID)}


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
