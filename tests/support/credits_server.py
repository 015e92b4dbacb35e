# SPDX-License-Identifier: Apache-2.0
"""A server that answers as coral-credits does, by its recorded exchanges, with balances in memory.

The price of a class is its amount times the hours of the lease, rounded up at each call.
"""
import contextlib
import datetime
import http.server
import ipaddress
import json
import math
import re
from urllib import parse
import uuid

from support import loopback

TOKEN = 'token-of-credits'
_HTML = ('\n<!doctype html>\n<html lang="en">\n<head>\n  <title>{0}</title>\n</head>\n<body>\n'
         '  <h1>{0}</h1><p>{1}</p>\n</body>\n</html>\n')
_NOT_FOUND = _HTML.format('Not Found', 'The requested resource was not found on this server.')
_BROKEN = _HTML.format('Server Error (500)', '')
_REQUIRED, _NULL = ['This field is required.'], ['This field may not be null.']
_BLANK = ['This field may not be blank.']
_ACTIONS = ('check-create', 'create', 'check-update', 'update', 'on-end')


class _Answer(Exception):
    """The answer that ends a request."""

    def __init__(self, status, content):
        super().__init__(content)
        self.status = status
        self.content = content


def broken():
    """Return the error that a function `before` raises so that the server fails with 500."""
    return _Answer(500, _BROKEN)


class Credits:
    """The accounts and consumers of the service.

    :param clock: returns the current time of the service.
    :ivar charges: {lease id: {class: hours}}.
    :ivar calls: (action, lease id, Idempotency-Key) of each call, in order.
    :ivar before: called with the action of each call, before it has an effect.
    """

    def __init__(self, clock, **hours):
        self.clock = clock
        self.granted = hours
        self.balance = {name: float(amount) for name, amount in hours.items()}
        self.projects = None
        self.since = '2026-11-25 13:43:00+00:00'
        self.charges = {}
        self.calls = []
        self.before = lambda action: None

    def handle(self, method, path, headers, content):
        """Return (status, the answer as JSON or text)."""
        action = path.removeprefix('/consumer/')
        if action not in _ACTIONS:
            return 404, _NOT_FOUND
        try:
            self._authenticate(headers)
            if method != 'POST':
                raise _Answer(405, {'detail': f'Method "{method}" not allowed.'})
            body = json.loads(content)
            self.calls.append((action, body['lease'].get('id'), headers.get('Idempotency-Key')))
            self.before(action)
            self._carry_out(action, body)
        except _Answer as answer:
            return answer.status, answer.content
        except KeyError:
            return 500, _BROKEN
        return 204, ''

    @staticmethod
    def _authenticate(headers):
        words = headers.get('Authorization', '').split(None, 1)
        if len(words) != 2 or words[0] != 'Bearer':
            raise _Answer(401, {'detail': 'Authentication credentials were not provided.'})
        if words[1] != TOKEN:
            raise _Answer(401, {'detail': 'Invalid token.'})

    def _carry_out(self, action, body):
        lease, current = body['lease'], body.get('current_lease')
        if action == 'on-end':
            end = max(_moment(lease['start_date']), self.clock())
            lease = current = {**lease, 'end_date': end.isoformat()}
        updates = action not in ('check-create', 'create')
        _validate(body['context'], lease)
        _ = body['context']['region_name']
        known = self._known(current['id']) if updates else None
        if self.projects is not None and body['context']['project_id'] not in self.projects:
            raise _Answer(403, {'error': 'No matching ResourceProviderAccount found'})
        price = self._price(lease, known)
        delta = {name: price[name] - (known or {}).get(name, 0) for name in self.granted}
        for name, hours in delta.items():
            if hours > self.balance[name]:
                raise _Answer(403, {'error': (
                    f"InsufficientCredits('Insufficient {name} credits available. "
                    f'Requested:{hours:g}, Available:{self.balance[name]:g} hours allocated for '
                    f"{name} from demo - {self.since}')")})
        if not action.startswith('check'):
            self._spend(action, lease.get('id') or str(uuid.uuid4()), price, delta)

    def _known(self, lease_id):
        if lease_id not in self.charges:
            raise _Answer(404, {'detail': 'No Consumer matches the given query.'})
        return self.charges[lease_id]

    def _price(self, lease, known):
        seconds = (_moment(lease['end_date']) - _moment(lease['start_date'])).total_seconds()
        price = {}
        for name, amount in lease['resource_requests'].items():
            if name not in self.granted:
                raise _Answer(404, {'detail': 'No ResourceClass matches the given query.'})
            price[name] = math.ceil(amount * seconds / 3600)
            if price[name] == 0 and known is None:
                raise _Answer(403, {'error': (
                    f"ResourceRequestFormatError('Invalid request: {price[name]:.1f} hours "
                    f"requested for {name}.')")})
        return price

    def _spend(self, action, lease_id, price, delta):
        if action == 'create' and lease_id in self.charges:
            raise _Answer(403, {'error': (
                "IntegrityError('UNIQUE constraint failed: api_consumer.consumer_uuid')")})
        self.charges[lease_id] = {name: price[name] for name in self.granted}
        for name, hours in delta.items():
            self.balance[name] -= hours


def _validate(context, lease):
    """Refuse a body that the serializers of the service refuse."""
    if not _is_url(context.get('auth_url', '')):
        raise _Answer(400, {'context': {'auth_url': ['Enter a valid URL.']}})
    missing = {name: _REQUIRED for name in ('name', 'start_date', 'end_date', 'reservations',
                                            'resource_requests') if name not in lease}
    if missing:
        raise _Answer(400, {'lease': missing})
    wrong = {str(place): fields for place, fields in enumerate(
        map(_wrong_fields, lease['reservations'])) if fields}
    if wrong:
        raise _Answer(400, {'lease': {'reservations': wrong}})
    for reservation in lease['reservations']:
        if reservation['resource_type'] == 'virtual:instance' and 'affinity' not in reservation:
            raise _Answer(400, {'affinity': _NULL})


def _wrong_fields(reservation):
    kind = reservation['resource_type']
    if kind == 'physical:host':
        return {name: _NULL for name in ('hypervisor_properties', 'resource_properties')
                if reservation.get(name, '') is None}
    if kind == 'virtual:instance':
        wrong = {}
        if reservation.get('affinity', '') is None:
            wrong['affinity'] = _NULL
        elif isinstance(reservation.get('affinity'), bool):
            wrong['affinity'] = ['Not a valid string.']
        if reservation.get('resource_properties') == '':
            wrong['resource_properties'] = _BLANK
        return wrong
    if kind == 'flavor:instance':
        return {}
    raise KeyError(kind)


def _is_url(text):
    host = parse.urlsplit(text).hostname or ''
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return host == 'localhost' or re.fullmatch(r'[\w-]+(\.[\w-]+)+', host) is not None


def _moment(text):
    moment = datetime.datetime.fromisoformat(text)
    return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment


@contextlib.contextmanager
def serving(credit):
    """Serve Credits on loopback; yield the URL of its consumer routes."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def _answer(self):
            content = self.rfile.read(int(self.headers.get('Content-Length') or 0))
            status, answer = credit.handle(self.command, self.path, self.headers, content)
            sent = answer if isinstance(answer, str) else json.dumps(answer)
            self.send_response(status)
            self.send_header('Content-Length', str(0 if status == 204 else len(sent.encode())))
            self.end_headers()
            if status != 204:
                self.wfile.write(sent.encode())

        do_GET = do_POST = _answer  # noqa: N815

        def log_message(self, *_):
            """Print nothing."""

    with loopback.serving(http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)) as port:
        yield f'http://127.0.0.1:{port}/consumer'
