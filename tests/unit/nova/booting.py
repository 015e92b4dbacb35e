# SPDX-License-Identifier: Apache-2.0
"""A simulated user, Nova and Climate, with the WSGI filter between them."""
import io
import json
import types

HINTS = 'os:scheduler_hints'
MADE = '2030-05-01T08:00:00.5Z'
RESERVED = {'reserved': 'True', 'lease_params': '{"end": "2030-12-1 16:07"}'}
REQUEST_ID = 'req-1'
URL = 'http://climate.example:1234/v1'


class Nova:
    """nova-api behind the filter; it makes servers.

    :ivar bodies: the requests that came, as bytes.
    :ivar status: what it answers.
    :ivar error: what it raises instead.
    :ivar breaks_off: what it raises in the midst of its answer.
    """

    def __init__(self, log):
        self.log = log
        self.bodies = []
        self.closed = 0
        self.status = '202 Accepted'
        self.says = {'server': {'id': 's1'}}
        self.error = None
        self.breaks_off = None

    def __call__(self, environ, start_response):
        length = environ.get('CONTENT_LENGTH')
        self.bodies.append(environ['wsgi.input'].read(int(length) if length else None))
        self.log.append('nova')
        if self.error:
            raise self.error
        write = start_response(self.status, [('X-Nova', 'yes')])
        raw = json.dumps(self.says).encode()
        write(raw[:5])
        return Body(self, raw[5:])

    @property
    def asked(self):
        """The last request."""
        return json.loads(self.bodies[-1])


class Body:
    """The rest of an answer, which wants to be closed."""

    def __init__(self, nova, rest):
        self._nova = nova
        self._rest = rest

    def __iter__(self):
        if self._nova.breaks_off:
            yield self._rest[:1]
            raise self._nova.breaks_off
        yield self._rest

    def close(self):
        self._nova.closed += 1


class Climate:
    """Climate's answers about leases.

    :ivar log: the calls that came to it and to Nova, in order.
    """

    def __init__(self, mocker, log):
        self._mocker = mocker
        self.log = log
        mocker.post(f'{URL}/leases', json=self._made, status_code=201)
        mocker.put(f'{URL}/reservations/r1', json=self._bound)
        mocker.delete(f'{URL}/leases/l1', text=self._dropped, status_code=204)

    @property
    def asked(self):
        return [each for each in self._mocker.request_history if each.url.startswith(URL)]

    def refuses(self, method, path, **response):
        self._mocker.register_uri(method, URL + path, **response)

    def _made(self, request, context):
        self.log.append('lease')
        asked = request.json()
        start = asked.get('start', 'now').replace('now', MADE)
        return lease(len(asked['reservations']), start)

    def _bound(self, request, context):
        self.log.append('bound to ' + request.json()['resource_id'])
        return {'reservation': {'id': 'r1'}}

    def _dropped(self, request, context):
        self.log.append('dropped')
        return ''


def lease(number=1, start=MADE):
    """Return the answer of Climate about a new lease with that number of reservations."""
    return {'lease': {'id': 'l1', 'start': start, 'created_at': MADE,
                      'reservations': [{'id': f'r{index + 1}'} for index in range(number)]}}


def request(hints=None, key=HINTS, **fields):
    """The bytes of a request to boot a server."""
    body = {'server': {'name': 'vm1', 'flavorRef': '7', **fields}}
    if hints is not None:
        body[key] = hints
    return json.dumps(body).encode()


class User:
    """Sends requests through the filter."""

    def __init__(self, app):
        self._app = app
        self.status = self.headers = None

    def boots(self, hints=None, key=HINTS, **fields):
        """Boot a server; the answer as JSON."""
        return self.sends(request(hints, key, **fields))

    def sends(self, raw, path='/servers', method='POST', **environ):
        """Send these bytes; the answer as JSON."""
        found = {'REQUEST_METHOD': method, 'SCRIPT_NAME': '/v2.1', 'PATH_INFO': path,
                 'CONTENT_LENGTH': str(len(raw)), 'wsgi.input': io.BytesIO(raw),
                 'HTTP_X_AUTH_TOKEN': 'user-token', 'HTTP_X_PROJECT_ID': 'p1',
                 'nova.context': types.SimpleNamespace(request_id=REQUEST_ID), **environ}
        chunks = []
        answered = self._app({key: value for key, value in found.items() if value is not None},
                             lambda *answer: self._start(chunks, *answer))
        chunks.extend(answered)
        if hasattr(answered, 'close'):
            answered.close()
        return json.loads(b''.join(chunks))

    def _start(self, chunks, status, headers):
        self.status, self.headers = int(status[:3]), dict(headers)
        return chunks.append


def told(user, answer):
    """(status, name, message) of a refusal, in Nova's shape."""
    [(name, fault)] = answer.items()
    assert fault['code'] == user.status
    return user.status, name, fault['message']


def climate_says(status, name, message, **headers):
    """An answer of Climate, for requests-mock."""
    return {'status_code': status, 'headers': headers, 'json': {
        'error_code': status, 'error_name': name, 'error_message': message}}
