# SPDX-License-Identifier: Apache-2.0
"""ETags of answers that stay the same until something changes, and the cheap answer 304.

Such an ETag has the number of changes in the database before the answer was computed, the moment
until which the answer holds if nothing changes, and a hash of the request with its caller. So a
request with an ETag needs only the number of changes, and no policy: its caller had the answer.
"""
import datetime
import hashlib
import re

import webob

from climate import context
from climate import errors
from climate import version
from climate.api import microversion

# An answer is computed again after this time, whatever the counter says: an operator may have
# changed the configuration, or rows without Climate.
_LONGEST = datetime.timedelta(minutes=5)
_TAG = re.compile(r'"([0-9]{1,12})-([0-9]{1,18})-([0-9a-f]{32})"')
_ASKED = ('PATH_INFO', 'QUERY_STRING', 'HTTP_HOST', 'HTTP_OPENSTACK_API_VERSION', 'HTTP_ACCEPT',
          'HTTP_X_USER_ID', 'HTTP_X_PROJECT_ID', 'HTTP_X_ROLES', 'HTTP_X_SERVICE_ROLES')
_HASH = 'climate.request_hash'


class ConditionalRequests:
    """WSGI middleware that answers 304 to a GET whose caller has the present answer.

    :param manager: a ManagerClient.
    :param clock: a function that returns the current time.
    """

    def __init__(self, application, manager, clock):
        self._application = application
        self._manager = manager
        self._clock = clock

    def __call__(self, environ, start_response):
        if environ['REQUEST_METHOD'] == 'GET':
            # Hashed here, because hooks change headers later.
            environ[_HASH] = _hash(environ)
            if self._is_unchanged(environ):
                response = webob.Response(status=304, headerlist=list(
                    microversion.headers_of(microversion.MAXIMUM).items()))
                response.headers['ETag'] = environ['HTTP_IF_NONE_MATCH']
                return response(environ, start_response)
        return self._application(environ, start_response)

    def _is_unchanged(self, environ):
        tag = _TAG.fullmatch(environ.get('HTTP_IF_NONE_MATCH', ''))
        if tag is None or tag[3] != environ[_HASH] or int(tag[1]) <= self._clock().timestamp():
            return False
        try:
            count = changes(self._manager, context.RequestContext.from_environ(environ))
        except errors.ClimateError:
            # The answer itself has the same error, in the format of its version.
            return False
        return int(tag[2]) == count


def changes(manager, caller):
    """Return the number of changes in the database; None: it is unknown.

    Call it before an answer is computed, so that a later change gives the answer another ETag.
    """
    try:
        return manager.count_changes(caller)
    except errors.ManagerOutdated:
        return None


def tag(request, count, now, until=None):
    """Return the ETag of an answer, or None if it cannot have one.

    :param count: the number of changes before the answer was computed; None: unknown.
    :param until: a moment at which the answer may change although the database does not, if there
        is one in the future.
    """
    latest = now + _LONGEST
    until = min(until, latest) if until is not None else latest
    # A moment within the present second would be in the past.
    seconds = int(until.timestamp())
    if count is None or seconds <= now.timestamp():
        return None
    return f'{seconds}-{count}-{request.environ[_HASH]}'


def _hash(environ):
    """Return a hash of everything in a request that determines its answer."""
    parts = [version.text(), *(environ.get(name) or '' for name in _ASKED)]
    return hashlib.sha256('\0'.join(parts).encode('utf-8', 'surrogateescape')).hexdigest()[:32]
