# SPDX-License-Identifier: Apache-2.0
"""Requests to climate-api with the token of the user who is logged in."""
import dataclasses
from urllib import parse

import flask
from keystoneauth1 import exceptions as foreign
from keystoneauth1 import session as sessions
from keystoneauth1 import token_endpoint
import requests
import werkzeug.exceptions as http

from climate.client import errors
from climate.client import http as client_http
from climate.client import service

blueprint = flask.Blueprint('rest', __name__)

_METHODS = ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')
# The headers that are forwarded, from the browser and to it.
_FORWARDED = ('Accept', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match')
_RETURNED = ('Content-Type', 'ETag', 'Retry-After', 'X-Openstack-Request-Id')
_POOLS = '/resources/'
_VERSION = {'OpenStack-API-Version': client_http.VERSION}


class Api:
    """Makes sessions with climate-api that share one pool of connections."""

    def __init__(self, conf):
        self._conf = conf
        self._connections = requests.Session()

    def session(self, identity):
        """Return a keystoneauth session of a user.

        :param identity: a ``login.Identity`` as a dict.
        """
        return sessions.Session(
            auth=token_endpoint.Token(identity['endpoint'], identity['token']),
            session=self._connections, verify=self._conf.console.cafile or True,
            timeout=self._conf.console.answer_seconds)

    def client(self, identity):
        """Return the client library for a user."""
        return service.Client(self.session(identity), endpoint_override=identity['endpoint'])


def client():
    """Return the client library for the user of the request."""
    return flask.current_app.extensions['api'].client(flask.session['identity'])


def allowed(read, otherwise):
    """Return what a function reads, or something else if policy does not let the user read it."""
    try:
        return read()
    except errors.Forbidden:
        return otherwise


@dataclasses.dataclass(frozen=True)
class EnrolField:
    """A field of the request that enrols a resource.

    :ivar kind: the type of its value: "text" or "number".
    :ivar help: its description.
    """

    name: str
    kind: str
    help: str
    required: bool


def pools():
    """Return {name of an enabled pool: its EnrolFields}, from the document of climate-api."""
    paths = client().http.call('GET', '/openapi').json()['paths']
    return {path.removeprefix(_POOLS): _enrol_fields(operations['post'])
            for path, operations in paths.items()
            if path.startswith(_POOLS) and '/' not in path.removeprefix(_POOLS)}


def pool_names():
    """Return the sorted names of the enabled pools."""
    return sorted(pools())


def _enrol_fields(operation):
    schema = operation['requestBody']['content']['application/json']['schema']
    required = schema.get('required', ())
    return [EnrolField(name, 'number' if field.get('type') == 'integer' else 'text',
                       field.get('description', ''), name in required)
            for name, field in schema['properties'].items() if name != 'properties']


def is_admin():
    """Return whether the user who is logged in is an administrator."""
    return 'admin' in flask.session['identity']['roles']


@blueprint.route('/rest/v1/<path:path>', methods=_METHODS)
def forward(path):
    """Send a request of the browser to climate-api, and its answer to the browser."""
    steps = path.split('/')
    if not all(step.strip('.') for step in steps):
        raise http.NotFound('rest.nowhere')
    identity, sent = flask.session['identity'], flask.request.headers
    headers = {name: sent[name] for name in _FORWARDED if name in sent}
    try:
        answer = flask.current_app.extensions['api'].session(identity).request(
            '/'.join([identity['endpoint'], *map(parse.quote, steps)]), flask.request.method,
            raise_exc=False,
            params=list(flask.request.args.items(multi=True)), data=flask.request.get_data(),
            headers={**headers, **_VERSION}, redirect=False)
    except foreign.ClientException as error:
        raise http.BadGateway('rest.silent') from error
    if answer.status_code == 401:
        flask.session.end()
    shown = {name: answer.headers[name] for name in _RETURNED if name in answer.headers}
    return flask.Response(answer.content, answer.status_code, shown)
