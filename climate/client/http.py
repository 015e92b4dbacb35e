# SPDX-License-Identifier: Apache-2.0
"""HTTP requests to a service, and conversion of all failures to errors of the client."""
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import re
import time
import typing
import urllib.parse

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as foreign
import requests

from climate.client import errors

VERSION = 'reservation 1.1'

# A create without a response is repeated after these pauses, with the same idempotency key.
_PAUSES_SECONDS = (0.5, 1.0, 2.0)
_LONGEST_PAUSE_SECONDS = 30.0

Query = Mapping[str, typing.Any] | Sequence[tuple[str, str]]


class Clock:
    """The clock for waiting; tests pass one that does not wait."""

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Record(dict[str, typing.Any]):
    """An object as the service sent it, with the ``etag`` of the response or None."""

    etag: str | None = None


class Http:
    """Sends requests to a service and raises errors of the client.

    :param address: returns the URL of the service; called once, before the first request.
    """

    def __init__(self, transport: adapter.Adapter, clock: Clock,
                 address: Callable[[], str]) -> None:
        self._transport = transport
        self._address = address
        self._base: str | None = None
        self.clock = clock

    def call(self, method: str, path: str, *, body: Mapping[str, typing.Any] | None = None,
             query: Query | None = None,
             headers: Mapping[str, str] | None = None) -> requests.Response:
        """Send one request.

        :returns: the response, whose status is below 400.
        :raises ClientError: the request failed; see `errors` for the classes.
        """
        try:
            response = self._transport.request(
                self._url(path), method, json=body, params=query or {}, raise_exc=False,
                headers={'Accept': 'application/json', **(headers or {})})
        except foreign.ClientException as error:
            raise from_foreign(error) from error
        if response.status_code >= 400:
            raise from_response(response)
        return response

    def call_until_answered(self, method: str, path: str, **kwargs: typing.Any
                            ) -> requests.Response:
        """Send a request as `call` does, and repeat it if no response comes.

        Only for requests with an Idempotency-Key: the service carries them out once.
        """
        for pause_seconds in _PAUSES_SECONDS:
            try:
                return self.call(method, path, **kwargs)
            except (errors.Unreachable, errors.NoAnswerInTime, errors.Overloaded) as error:
                pause = max(pause_seconds, error.retry_after_seconds or 0)
                self.clock.sleep(min(pause, _LONGEST_PAUSE_SECONDS))
        return self.call(method, path, **kwargs)

    def record(self, response: requests.Response, key: str) -> Record:
        """Return the object under `key` of a response."""
        element = Record(_document(response, key))
        element.etag = response.headers.get('ETag')
        return element

    def document(self, response: requests.Response, key: str) -> dict[str, typing.Any]:
        """Return the whole object of a response that has `key`."""
        _document(response, key)
        return typing.cast('dict[str, typing.Any]', response.json())

    def pages(self, path: str, key: str, query: Mapping[str, typing.Any] | None = None
              ) -> Iterator[Record]:
        """Iterate over the elements under `key`, page by page; a page is requested when needed."""
        following: Query | None = query
        while True:
            response = self.call('GET', path, query=following)
            for element in _document(response, key):
                yield Record(element)
            links = response.json().get(key + '_links') or []
            href = next((link['href'] for link in links if link.get('rel') == 'next'), None)
            if not href:
                return
            # Only the query of the link is used: behind a proxy its host may be wrong.
            following = urllib.parse.parse_qsl(urllib.parse.urlsplit(href).query)

    def _url(self, path: str) -> str:
        if self._base is None:
            self._base = self._address()
        return self._base + path


class Noun:
    """The base class of the objects that serve one noun of the service."""

    def __init__(self, transport: Http) -> None:
        self._http = transport


def quoted(text: str) -> str:
    """Quote `text` as one segment of a path."""
    return urllib.parse.quote(text, safe='')


def from_response(response: requests.Response) -> errors.HttpError:
    """Convert a response with a status of 400 or more to an error."""
    try:
        body = response.json()
    except ValueError:
        body = None
    body = body if isinstance(body, dict) else {}
    # The middleware that checks tokens sends {"error": {"message": …}}, and Nova
    # {"itemNotFound": {"message": …}}.
    nested = [inner['message'] for inner in body.values()
              if isinstance(inner, dict) and inner.get('message')]
    message = (body.get('error_message') or ''.join(map(str, nested[:1]))
               or f'HTTP {response.status_code} {response.reason or ""} from {response.url}')
    name = body.get('error_name')
    details = body.get('details')
    error = errors.class_of(response.status_code)(
        str(message), status=response.status_code, name=name if isinstance(name, str) else None,
        request_id=body.get('request_id') or response.headers.get('X-Openstack-Request-Id'),
        details=details if isinstance(details, dict) else None)
    retry_after = response.headers.get('Retry-After', '')
    error.retry_after_seconds = float(retry_after) if retry_after.isdecimal() else None
    return error


def from_foreign(error: foreign.ClientException) -> errors.ClientError:
    """Convert an error of keystoneauth to an error of the client."""
    if isinstance(error, foreign.SSLError):
        return errors.Unreachable(
            f'No answer: {_without_pools(str(error))}. If the certificate is of an authority of '
            'your own, name its file in OS_CACERT (--os-cacert).')
    if isinstance(error, foreign.ConnectionError):
        return errors.Unreachable(f'No answer: {_without_pools(str(error))}.')
    if isinstance(error, foreign.AuthPluginException):
        return errors.NotConfigured(f'Logging in needs more options: {error}')
    if isinstance(error, foreign.HttpError):
        return errors.class_of(error.http_status)(
            f'The identity service refused: {error.message}', status=error.http_status,
            request_id=error.request_id)
    return errors.ClientError(str(error))


def _without_pools(text: str) -> str:
    # "Unable to establish connection to URL: HTTPConnectionPool(…: [Errno 111] Connection refused"
    begin, _pool, rest = text.partition(': HTTP')
    cause = re.search(r'\[(?:Errno [-\d]+|SSL[^\]]*)\] ([^"\'()]+)', rest)
    return f'{begin}: {cause[1].strip()}' if cause else begin.rstrip('.')


def _document(response: requests.Response, key: str) -> typing.Any:
    try:
        return response.json()[key]
    except (ValueError, TypeError, KeyError):
        raise errors.AnswerUnreadable(
            f'{response.url} does not respond like the expected service: is the address right?',
            status=response.status_code) from None
