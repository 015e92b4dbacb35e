# SPDX-License-Identifier: Apache-2.0
"""Read, change and forward complete WSGI requests and responses of nova-api."""
import io
import json

from climate.nova import errors

# Nova's own limit applies first unless the operator raised it, because its default is a tenth.
_MOST_BYTES = 1 << 20
# Nova's names of the faults.
_FAULTS = {400: 'badRequest', 401: 'unauthorized', 403: 'forbidden', 404: 'itemNotFound',
           409: 'conflictingRequest', 413: 'overLimit', 429: 'overLimit',
           503: 'serviceUnavailable'}
_REASONS = {400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
            409: 'Conflict', 413: 'Request Entity Too Large', 429: 'Too Many Requests',
            500: 'Internal Server Error', 503: 'Service Unavailable'}


def document(environ):
    """Return the JSON object of a request, or None if there is none.

    The body can be read again afterwards.

    :raises BootRefused: the body is too large.
    """
    raw = _read(environ)
    if raw is None:
        return None
    environ['wsgi.input'] = io.BytesIO(raw)
    try:
        body = json.loads(raw.decode('utf-8'))
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def put(environ, body):
    """Replace the body of the request by this object, as JSON."""
    raw = json.dumps(body).encode()
    environ['wsgi.input'] = io.BytesIO(raw)
    environ['CONTENT_LENGTH'] = str(len(raw))


class Response:
    """The complete response of a WSGI application.

    :ivar status: the status line.
    :ivar headers: pairs of a name and a value.
    """

    def __init__(self, app, environ):
        """Call `app`, read its response and close it. Errors of `app` are raised."""
        self.status = None
        self.headers = []
        self._chunks = []
        chunks = app(environ, self._start)
        try:
            self._chunks.extend(chunks)
        finally:
            if hasattr(chunks, 'close'):
                chunks.close()
        if self.status is None:
            raise RuntimeError('The WSGI application did not call start_response.')

    @property
    def is_success(self):
        """Return whether the status is 2xx."""
        return self.status.startswith('2')

    def json(self):
        """Return the body, decoded from JSON, or None if it is not JSON."""
        try:
            return json.loads(b''.join(self._chunks))
        except ValueError:
            return None

    def send(self, start_response):
        """Send the response, as the return value of a WSGI application."""
        start_response(self.status, self.headers)
        return self._chunks

    def _start(self, status, headers, exc_info=None):
        # No part of the body is sent yet, so the status may still be replaced.
        if exc_info is not None and self._chunks:
            raise exc_info[1].with_traceback(exc_info[2])
        self.status, self.headers = status, list(headers)
        return self._chunks.append


def refuse(error, start_response):
    """Respond with a BootRefused, in the format of Nova's own faults."""
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
    """Return the bytes of the body; None if the request does not contain its length."""
    length = environ.get('CONTENT_LENGTH') or ''
    if length.isascii() and length.isdigit():
        count = int(length[:20])
    elif environ.get('wsgi.input_terminated'):
        count = None
    else:
        return None
    if count is not None and count > _MOST_BYTES:
        raise _too_large()
    raw = environ['wsgi.input'].read(_MOST_BYTES + 1 if count is None else count)
    if len(raw) > _MOST_BYTES:
        raise _too_large()
    return raw


def _too_large():
    return errors.BootRefused(413, f'The body may have at most {_MOST_BYTES} bytes.')
