# SPDX-License-Identifier: Apache-2.0
"""Requests and answers of nova-api as WSGI has them: read whole, changed, passed on."""
import io
import json

from climate.nova import errors

# Nova's own limit comes before and is a tenth of it; where that was raised, this one holds.
_MOST_BYTES = 1 << 20
# As Nova calls them.
_FAULTS = {400: 'badRequest', 401: 'unauthorized', 403: 'forbidden', 404: 'itemNotFound',
           409: 'conflictingRequest', 413: 'overLimit', 429: 'overLimit',
           503: 'serviceUnavailable'}
_REASONS = {400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
            409: 'Conflict', 413: 'Request Entity Too Large', 429: 'Too Many Requests',
            500: 'Internal Server Error', 503: 'Service Unavailable'}


def document(environ):
    """The JSON object of a request, or None where there is none; it can still be read after.

    :raises Refused: it has more bytes than any such request.
    """
    raw = _read(environ)
    if raw is None:
        return None
    environ['wsgi.input'] = io.BytesIO(raw)
    try:
        found = json.loads(raw.decode('utf-8'))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def put(environ, found):
    """Make this object the body of the request."""
    raw = json.dumps(found).encode()
    environ['wsgi.input'] = io.BytesIO(raw)
    environ['CONTENT_LENGTH'] = str(len(raw))


class Answer:
    """What an application answers, as a whole.

    :ivar status: the status line.
    :ivar headers: pairs of a name and a value.
    """

    def __init__(self, app, environ):
        """Ask `app`; what it raises is raised, and what it opens is closed."""
        self.status = None
        self.headers = []
        self._chunks = []
        found = app(environ, self._start)
        try:
            self._chunks.extend(found)
        finally:
            if hasattr(found, 'close'):
                found.close()
        if self.status is None:
            raise RuntimeError('The application has not called start_response.')

    @property
    def is_success(self):
        """Whether the request was done."""
        return self.status.startswith('2')

    def json(self):
        """The body as JSON, or None where it is none."""
        try:
            return json.loads(b''.join(self._chunks))
        except ValueError:
            return None

    def send(self, start_response):
        """Give the answer to the server, as an application does."""
        start_response(self.status, self.headers)
        return self._chunks

    def _start(self, status, headers, exc_info=None):
        # Nothing has left yet, so an answer may be replaced until a part of its body is there.
        if exc_info is not None and self._chunks:
            raise exc_info[1].with_traceback(exc_info[2])
        self.status, self.headers = status, list(headers)
        return self._chunks.append


def refuse(error, start_response):
    """Answer with a Refused, in the shape of Nova's own refusals."""
    fault = {'code': error.status, 'message': str(error)}
    headers = [('Content-Type', 'application/json; charset=UTF-8')]
    if error.retry_seconds is not None:
        headers.append(('Retry-After', str(error.retry_seconds)))
        if error.status in (413, 429):
            fault['retryAfter'] = str(error.retry_seconds)
    raw = json.dumps({_FAULTS.get(error.status, 'computeFault'): fault}).encode()
    headers.append(('Content-Length', str(len(raw))))
    start_response(f'{error.status} {_REASONS[error.status]}', headers)
    return [raw]


def _read(environ):
    """The bytes of the body; None where nothing says how many there are."""
    length = environ.get('CONTENT_LENGTH') or ''
    if length.isascii() and length.isdigit():
        wanted = int(length[:20])
    elif environ.get('wsgi.input_terminated'):
        wanted = None
    else:
        return None
    if wanted is not None and wanted > _MOST_BYTES:
        raise _too_large()
    raw = environ['wsgi.input'].read(_MOST_BYTES + 1 if wanted is None else wanted)
    if len(raw) > _MOST_BYTES:
        raise _too_large()
    return raw


def _too_large():
    return errors.Refused(413, f'The body may have at most {_MOST_BYTES} bytes.')
