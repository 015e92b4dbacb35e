# SPDX-License-Identifier: Apache-2.0
"""Notifications by webhook: JSON, signed with HMAC-SHA256, posted to an address of the user.

The name in the URL is resolved once, and the connection goes to the IP address that was checked.
So a later change of the name's address has no effect. The connection may stay open for the next
notifications; a new connection resolves and checks the name again. Redirects are not followed, and
proxies are not used. The body of a response is read only to use the connection again.
"""
import contextlib
import functools
import hashlib
import hmac
import http.client
import json
import socket
import ssl
import time
from urllib import parse

from climate import bounded_http
from climate import errors
from climate import version
from climate.notifiers import base
from climate.notifiers import webhook_addresses
from climate.notifiers import webhook_connections

#: The headers of a webhook.
ID_HEADER = 'Climate-Notification-Id'
TIME_HEADER = 'Climate-Timestamp'
SIGNATURE_HEADER = 'Climate-Signature'
_GONE = 410
# The longest body of a response that is read, and the longest pause between its parts.
_MOST_READ = 65536
_READING_SECONDS = 0.2
# The time after which the certificates of authorities are read again.
_AUTHORITIES_SECONDS = 60
# The errors of a connection that the other side has closed.
_CLOSED = (ConnectionError, ssl.SSLError, http.client.BadStatusLine)


class _Closed(base.Undelivered):
    """The receiver closed the connection without an answer."""


class Webhook(base.Notifier):
    """Posts notifications to public addresses, and to addresses in [webhook] allowed_networks."""

    has_secret = True

    def __init__(self, conf, resolve=socket.getaddrinfo, clock=time.time):
        super().__init__(conf)
        self._resolve = resolve
        self._clock = clock
        self._authorities = None, float('-inf')

    @property
    def workers(self):
        return self._conf.webhook.workers

    def check(self):
        try:
            self._context()
        except OSError as error:
            raise errors.ConfigurationError(f'[webhook] ca_file cannot be used: {error}') from error

    def checked(self, address):
        conf = self._conf.webhook
        if not conf.enabled:
            raise errors.BadField(field='transport', reason=(
                'this Climate sends no webhooks; use mail or a calendar.'))
        try:
            parts = webhook_addresses.parsed(address)
        except ValueError as error:
            raise errors.BadField(field='address', reason=f'{error}.') from error
        if parts.scheme != 'https' and not (parts.scheme == 'http' and conf.allow_http):
            raise errors.BadField(field='address', reason='it must begin with https://.')
        # Names are resolved when a notification is sent, because their addresses may change.
        host = parts.hostname.removesuffix('.')
        literal = webhook_addresses.literal(host)
        if host == 'localhost' or host.endswith('.localhost'):
            literal = '127.0.0.1'
        if literal and not webhook_addresses.may_be_called(literal, conf.allowed_networks):
            raise errors.BadField(field='address', reason=_forbidden(literal))
        return address

    @contextlib.contextmanager
    def session(self):
        pool = webhook_connections.OpenConnections()
        try:
            yield functools.partial(self.send, pool=pool)
        finally:
            pool.close()

    def send(self, message, pool=None):
        """Send one Message.

        :param pool: the OpenConnections; None: the connection is closed after the answer.
        :raises Undelivered: the message was not accepted.
        """
        parts = webhook_addresses.parsed(message.address)
        if parts.scheme != 'https' and not self._conf.webhook.allow_http:
            raise base.Undelivered('The address must begin with https://.', permanent=True)
        deadline = time.monotonic() + self._conf.webhook.timeout_seconds
        status = self._status(parts, message, deadline, pool)
        if 200 <= status < 300:
            return
        if 300 <= status < 400:
            raise base.Undelivered(f'The receiver answered {status}: redirects are not followed. '
                                   'Subscribe with the final address.')
        raise base.Undelivered(f'The receiver answered {status}.', permanent=status == _GONE)

    def _status(self, parts, message, deadline, pool):
        """Post a message, over an open connection if the pool has one; return the status."""
        key = parts.scheme, parts.hostname, parts.port
        unused = pool and pool.take(key)
        if unused:
            connection, opened_at = unused
            with contextlib.suppress(_Closed):
                return self._post(parts, connection, message, deadline,
                                  functools.partial(pool.put, key, opened_at=opened_at))
        address = self._resolved(parts, deadline)
        connection = self._connection(parts, address, bounded_http.left(deadline))
        return self._post(parts, connection, message, deadline, pool and functools.partial(
            pool.put, key, opened_at=time.monotonic()))

    def _resolved(self, parts, deadline):
        """Return the IP address of the connection: the first one that may be called.

        :raises Undelivered: the name is unknown, or has no address that may be called.
        """
        port = parts.port or bounded_http.PORTS[parts.scheme]
        try:
            found = bounded_http.addresses(parts.hostname, port, deadline, self._resolve)
        except bounded_http.LookupFailed as error:
            raise base.Undelivered(f'The name of the receiver {error}.') from error
        allowed = [address for address in found if webhook_addresses.may_be_called(
            address, self._conf.webhook.allowed_networks)]
        if not allowed:
            # The error does not show the addresses, because they could reveal internal networks.
            raise base.Undelivered(_forbidden('no public address'))
        return allowed[0]

    def _post(self, parts, connection, message, deadline, keep):
        """Post a message over a connection; return the status of the answer.

        :param keep: a function that gets the connection if it can be used again; None: close it.
        """
        content = json.dumps(message.body, separators=(',', ':')).encode()
        path = parse.urlunsplit(('', '', parts.path or '/', parts.query, ''))
        is_usable = False
        try:
            with bounded_http.aborting(deadline, connection):
                connection.request('POST', path, content, self.headers(message, content))
                response = connection.getresponse()
                is_usable = keep is not None and response.status < 300 and _is_read(
                    response, connection)
            return response.status
        except ssl.SSLCertVerificationError as error:
            raise base.Undelivered('The certificate of the receiver is not accepted: '
                                   f'{error.verify_message}.') from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _unreachable(connection, error) from error
        finally:
            if is_usable and not connection.aborted:
                keep(connection)
            else:
                connection.close()

    def headers(self, message, content):
        """Return the headers of a request, with the signature of its content."""
        moment = str(int(self._clock()))
        return {
            'Content-Type': 'application/json',
            'User-Agent': f'Climate/{version.text()}',
            ID_HEADER: message.id,
            TIME_HEADER: moment,
            SIGNATURE_HEADER: f'v1={signature(message.secret, moment, content)}',
        }

    def _connection(self, parts, address, seconds):
        port = parts.port or bounded_http.PORTS[parts.scheme]
        context = self._context() if parts.scheme == 'https' else None
        return bounded_http.Connection(parts.hostname, port, timeout=seconds, address=address,
                                       context=context)

    def _context(self):
        context, since = self._authorities
        if time.monotonic() - since > _AUTHORITIES_SECONDS:
            context = ssl.create_default_context(cafile=self._conf.webhook.ca_file or None)
            self._authorities = context, time.monotonic()
        return context


def _is_read(response, connection):
    """Read a short response to its end; return whether the connection can be used again."""
    if connection.sock is None:
        return False
    try:
        connection.sock.settimeout(_READING_SECONDS)
        response.read(_MOST_READ)
        connection.sock.settimeout(connection.timeout)
    except (OSError, http.client.HTTPException, ValueError):
        return False
    return response.isclosed()


def _unreachable(connection, error):
    """Return the Undelivered for a failure of a connection."""
    if connection.aborted:
        return base.Undelivered('The receiver cannot be reached: it took longer than [webhook] '
                                'timeout_seconds.')
    kind = _Closed if isinstance(error, _CLOSED) else base.Undelivered
    return kind(f'The receiver cannot be reached: {type(error).__name__}: {str(error)[:200]}.')


def signature(secret, moment, content):
    """Return the HMAC-SHA256 of "TIMESTAMP.CONTENT", as hexadecimal text."""
    signed = moment.encode() + b'.' + content
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _forbidden(address):
    return (f'it leads to {address}, and only public addresses are called. An operator can allow '
            'more by [webhook] allowed_networks.')
