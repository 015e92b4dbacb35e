# SPDX-License-Identifier: Apache-2.0
"""The enforcement driver "http": a service that answers POST requests with JSON.

The operator configures the address, so it may be in any network. Redirects are not followed,
proxies are not used, and only the first bytes of an answer are read.
"""
import contextlib
import http.client
import json
import ssl
import threading
import time
from urllib import parse

from climate import bounded_http
from climate import errors
from climate import version
from climate.conf import checking
from climate.enforcement import answers
from climate.enforcement import base
from climate.enforcement import blazar
from climate.enforcement import chameleon
from climate.enforcement import coral

_DIALECTS = {'blazar': blazar.Blazar, 'coral': coral.Coral, 'chameleon': chameleon.Chameleon}
_LONGEST_ANSWER = 64 * 1024
_RETRY_SECONDS = 5
_ALLOWED, _REFUSED = 204, 403
_URLS = {'check-create': 'check_create_url', 'create': 'create_url',
         'check-update': 'check_update_url', 'update': 'update_url', 'on-end': 'on_end_url'}
#: The header with the id of a call, which is the same at every attempt.
ID_HEADER = 'Idempotency-Key'


class HttpEnforcement(base.EnforcementDriver):
    """Calls a service by HTTP, in the dialect of [enforcement] dialect."""

    def __init__(self, conf, cloud):
        super().__init__(conf, cloud)
        self._cloud = cloud
        self._dialect = _DIALECTS[conf.enforcement.dialect]()
        self.charges_when_asked = self._dialect.charges_when_asked
        self._places = threading.BoundedSemaphore(2 * conf.enforcement.at_once)
        self._turns = threading.BoundedSemaphore(conf.enforcement.at_once)

    def check(self):
        options = self.conf.enforcement
        for name in ('url', 'auth_url', *_URLS.values()):
            checking.url(self.conf, 'enforcement', name)
        needed = {_URLS[name] for name in (*self._dialect.questions.values(),
                                           *self._dialect.reports.values())}
        missing = sorted(name for name in needed if not options[name])
        if missing and not options.url:
            raise errors.ConfigurationError(
                f'[enforcement] url is not set, and neither is {missing[0]}. Write the URL of the '
                'service.')
        if not options.resource_types:
            raise errors.ConfigurationError(
                '[enforcement] resource_types is empty, so no lease would be reported. Name the '
                'types, or set driver to an empty value.')
        if not options.resource_classes and options.dialect == 'coral':
            raise errors.ConfigurationError(
                '[enforcement] resource_classes is empty, but coral-credits charges by resource '
                'class. Name the classes of the accounts, such as VCPU.')
        if options.dialect == 'coral' and not options.token:
            raise errors.ConfigurationError(
                '[enforcement] token is not set. Write the token of coral-credits, which accepts '
                'no token of Keystone.')
        try:
            self._context()
        except OSError as error:
            raise errors.ConfigurationError(
                f'[enforcement] ca_file cannot be used: {error}') from error

    def reach(self):
        for name in sorted(self._dialect.reports.values()):
            try:
                self._exchange('GET', self._url(name), {}, None)
            except errors.EnforcementUnavailable as error:
                # The URL may contain a password.
                option = _URLS[name] if self.conf.enforcement[_URLS[name]] else 'url'
                return f'[enforcement] {option} for {name}: {error.kwargs["reason"]}'
        return None

    def ask(self, call):
        with self._turn():
            self._call(self._dialect.questions[call.kind], call)

    def commit(self, call):
        self._call(self._dialect.reports[call.kind], call)

    def end(self, call):
        # The service may refuse an end that is reported late, because it costs more.
        with contextlib.suppress(errors.EnforcementRefused):
            self._call(self._dialect.reports[base.END], call)
        closing = self._dialect.closing(call)
        if closing is not None:
            self._close(closing)

    def _close(self, call):
        """Make the call that follows the report of an end; an unknown lease is no error."""
        name = self._dialect.reports[call.kind]
        answer = self._post(name, call)
        unknown = base.Call(call.id, base.END, call.body)
        if answer.status != _ALLOWED and not self._dialect.is_done(unknown, answer):
            raise self._error(name, answer)

    @contextlib.contextmanager
    def _turn(self):
        """Wait for one of the turns to ask, which lasts as long as the block.

        :raises EnforcementBusy: too many callers wait already.
        """
        if not self._places.acquire(blocking=False):
            raise errors.EnforcementBusy(most=2 * self.conf.enforcement.at_once,
                                         retry_after=_RETRY_SECONDS)
        try:
            with self._turns:
                yield
        finally:
            self._places.release()

    def _call(self, name, call):
        answer = self._post(name, call)
        if answer.status != _ALLOWED and not self._dialect.is_done(call, answer):
            raise self._error(name, answer)

    def _error(self, name, answer):
        if answer.status == _REFUSED:
            return errors.EnforcementRefused(reason=answer.reason)
        more = {401: ' It does not accept the token.',
                404: ' Check the URL.'}.get(answer.status, '')
        if 300 <= answer.status < 400:
            more = ' Redirects are not followed: configure the final URL.'
        return errors.EnforcementUnavailable(
            reason=f'{name} was answered with {answer.status} ({answer.excerpt}).{more}')

    def _post(self, name, call):
        """Post one call; return its Answer."""
        content = json.dumps(self._dialect.body(call), separators=(',', ':')).encode()
        return self._exchange('POST', self._url(name), {
            'Content-Type': 'application/json', 'Accept': 'application/json',
            ID_HEADER: call.id, **self._login(call)}, content)

    def _login(self, call):
        """Return the header with the token of a call."""
        options = self.conf.enforcement
        token = options.token or call.token or self._cloud.as_service().keystone.own_token()
        header = options.token_header or self._dialect.header
        return {header: f'Bearer {token}' if header == 'Authorization' else token}

    def _url(self, name):
        own = self.conf.enforcement[_URLS[name]]
        return own or f'{self.conf.enforcement.url.rstrip("/")}/{name}{self._dialect.suffix}'

    def _context(self):
        return ssl.create_default_context(cafile=self.conf.enforcement.ca_file or None)

    def _exchange(self, method, url, headers, content):
        """Send one request; return the Answer.

        :raises EnforcementUnavailable: no answer came in time, or it was too long.
        """
        parts = parse.urlsplit(url)
        port = parts.port or bounded_http.PORTS[parts.scheme]
        deadline = time.monotonic() + self.conf.enforcement.timeout_seconds
        connection = None
        try:
            address = bounded_http.addresses(parts.hostname, port, deadline)[0]
            connection = bounded_http.Connection(
                parts.hostname, port, timeout=bounded_http.left(deadline), address=address,
                context=self._context() if parts.scheme == 'https' else None)
            with bounded_http.until(deadline, connection):
                path = parse.urlunsplit(('', '', parts.path or '/', parts.query, ''))
                connection.request(method, path, content,
                                   {'User-Agent': f'Climate/{version.text()}', **headers})
                response = connection.getresponse()
                answer = answers.Answer(response.status, response.read(_LONGEST_ANSWER + 1))
        except bounded_http.LookupFailed as error:
            raise errors.EnforcementUnavailable(reason=f'its name {error}.') from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = ('it took longer than [enforcement] timeout_seconds'
                   if connection is not None and connection.aborted
                   else f'{type(error).__name__}: {str(error)[:200]}')
            raise errors.EnforcementUnavailable(reason=f'{why}.') from error
        if len(answer.content) > _LONGEST_ANSWER:
            raise errors.EnforcementUnavailable(
                reason=f'its answer has more than {_LONGEST_ANSWER} bytes.')
        if connection.aborted:
            # The body was cut off, so a refusal would have no reason.
            raise errors.EnforcementUnavailable(
                reason='it took longer than [enforcement] timeout_seconds.')
        return answer
