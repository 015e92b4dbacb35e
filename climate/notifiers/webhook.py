# SPDX-License-Identifier: Apache-2.0
"""Notifications by webhook: JSON, signed with HMAC-SHA256, posted to an address of the user.

The name in the URL is resolved once, and the connection goes to the IP address that was checked.
So a later change of the name's address has no effect. Redirects are not followed, proxies are not
used, and the body of a response is not read.
"""
import hashlib
import hmac
import http.client
import json
import re
import socket
import ssl
import time
from urllib import parse

from climate import bounded_http
from climate import errors
from climate import version
from climate.notifiers import base
from climate.notifiers import webhook_addresses

#: The headers of a webhook.
ID_HEADER = 'Climate-Notification-Id'
TIME_HEADER = 'Climate-Timestamp'
SIGNATURE_HEADER = 'Climate-Signature'
_LONGEST_URL = 2000
_GONE = 410
# The name of a host in DNS, or an IPv6 address.
_LONGEST_NAME = 253
_HOST = re.compile(r'(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*'
                   r'[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?|[0-9a-f.]*:[0-9a-f:.]*(?:%.+)?')


class Webhook(base.Notifier):
    """Posts notifications to public addresses, and to addresses in [webhook] allowed_networks."""

    has_secret = True

    def __init__(self, conf, resolve=socket.getaddrinfo, clock=time.time):
        super().__init__(conf)
        self._resolve = resolve
        self._clock = clock

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
            parts = _parsed(address)
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

    def send(self, message):
        parts = _parsed(message.address)
        if parts.scheme != 'https' and not self._conf.webhook.allow_http:
            raise base.Undelivered('The address must begin with https://.', permanent=True)
        deadline = time.monotonic() + self._conf.webhook.timeout_seconds
        address = self._resolved(parts, deadline)
        status = self._post(parts, address, message, deadline)
        if 200 <= status < 300:
            return
        if 300 <= status < 400:
            raise base.Undelivered(f'The receiver answered {status}: redirects are not followed. '
                                   'Subscribe with the final address.')
        raise base.Undelivered(f'The receiver answered {status}.', permanent=status == _GONE)

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

    def _post(self, parts, address, message, deadline):
        """Post a message to an address; return the status of the answer."""
        content = json.dumps(message.body, separators=(',', ':')).encode()
        connection = self._connection(parts, address, bounded_http.left(deadline))
        try:
            with bounded_http.until(deadline, connection):
                path = parse.urlunsplit(('', '', parts.path or '/', parts.query, ''))
                connection.request('POST', path, content, self.headers(message, content))
                return connection.getresponse().status
        except ssl.SSLCertVerificationError as error:
            raise base.Undelivered('The certificate of the receiver is not accepted: '
                                   f'{error.verify_message}.') from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = ('it took longer than [webhook] timeout_seconds' if connection.aborted
                   else f'{type(error).__name__}: {str(error)[:200]}')
            raise base.Undelivered(f'The receiver cannot be reached: {why}.') from error

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
        return ssl.create_default_context(cafile=self._conf.webhook.ca_file or None)


def signature(secret, moment, content):
    """Return the HMAC-SHA256 of "TIMESTAMP.CONTENT", as hexadecimal text."""
    signed = moment.encode() + b'.' + content
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _parsed(address):
    """Return the parts of a URL.

    :raises ValueError: the URL cannot be used; the error has the reason.
    """
    if len(address) > _LONGEST_URL:
        raise ValueError(f'a URL has at most {_LONGEST_URL} characters')
    if any(not 33 <= ord(letter) <= 126 for letter in address):
        raise ValueError('a URL has no spaces and no characters beyond ASCII: encode them with %')
    try:
        parts = parse.urlsplit(address)
        usable = (parts.scheme in bounded_http.PORTS and parts.port != 0
                  and _is_host(parts.hostname or ''))
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(f'"{address[:80]}" is not a URL such as https://example.org/hook')
    if '@' in parts.netloc:
        raise ValueError('a URL with a name or password would be shown in lists: check the '
                         'signature instead')
    if parts.fragment:
        raise ValueError('a URL of a webhook has no part after "#"')
    return parts


def _is_host(name):
    return len(name) <= _LONGEST_NAME + 1 and _HOST.fullmatch(name) is not None


def _forbidden(address):
    return (f'it leads to {address}, and only public addresses are called. An operator can allow '
            'more by [webhook] allowed_networks.')
