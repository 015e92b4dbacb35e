# SPDX-License-Identifier: Apache-2.0
"""Requests to a service, and the one place where foreign errors become ours."""
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

# A lost answer to a create is asked for again after these pauses, with the same key.
_PAUSES_SECONDS = (0.5, 1.0, 2.0)
_LONGEST_PAUSE_SECONDS = 30.0

Query = Mapping[str, typing.Any] | Sequence[tuple[str, str]]


class Clock:
    """What waiting needs of a clock; tests hand in one that does not wait."""

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Record(dict[str, typing.Any]):
    """An object of the service as it came, plus the ``etag`` it came with, or None."""

    etag: str | None = None


class Http:
    """Sends one request and answers with what came, or raises one of our errors.

    :param address: where the service is; asked once, when the first request is sent.
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
        """The answer, whose status is below 400.

        :raises ClientError: one of the tree.
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
        """Like call, but asks again when the answer was lost.

        Only for requests with an Idempotency-Key: the service makes one thing of all of them.
        """
        for pause_seconds in _PAUSES_SECONDS:
            try:
                return self.call(method, path, **kwargs)
            except (errors.Unreachable, errors.NoAnswerInTime, errors.Overloaded) as error:
                wanted = max(pause_seconds, error.retry_after_seconds or 0)
                self.clock.sleep(min(wanted, _LONGEST_PAUSE_SECONDS))
        return self.call(method, path, **kwargs)

    def record(self, response: requests.Response, key: str) -> Record:
        """The object under `key` of an answer."""
        found = Record(_document(response, key))
        found.etag = response.headers.get('ETag')
        return found

    def document(self, response: requests.Response, key: str) -> dict[str, typing.Any]:
        """All of an answer that has `key`."""
        _document(response, key)
        return typing.cast('dict[str, typing.Any]', response.json())

    def pages(self, path: str, key: str, query: Mapping[str, typing.Any] | None = None
              ) -> Iterator[Record]:
        """The elements under `key`, page after page, each page asked for when it is needed."""
        following: Query | None = query
        while True:
            response = self.call('GET', path, query=following)
            for element in _document(response, key):
                yield Record(element)
            links = response.json().get(key + '_links') or []
            href = next((link['href'] for link in links if link.get('rel') == 'next'), None)
            if not href:
                return
            # Of the link only the query counts: behind a proxy its host may be another.
            following = urllib.parse.parse_qsl(urllib.parse.urlsplit(href).query)

    def _url(self, path: str) -> str:
        if self._base is None:
            self._base = self._address()
        return self._base + path


def quoted(text: str) -> str:
    """`text` as one part of a path, whatever characters it has."""
    return urllib.parse.quote(text, safe='')


def from_response(response: requests.Response) -> errors.HttpError:
    """The error that an answer of 400 or more stands for."""
    try:
        body = response.json()
    except ValueError:
        body = None
    body = body if isinstance(body, dict) else {}
    # Others have a form of their own: {"error": {"message": …}} the middleware that checks tokens,
    # {"itemNotFound": {"message": …}} Nova.
    theirs = [inner['message'] for inner in body.values()
              if isinstance(inner, dict) and inner.get('message')]
    message = (body.get('error_message') or ''.join(map(str, theirs[:1]))
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
    """What an error of keystoneauth is called here."""
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
    cause = re.search(r'\[Errno [-\d]+\] ([^"\')]+)', rest)
    return f'{begin}: {cause[1]}' if cause else begin.rstrip('.')


def _document(response: requests.Response, key: str) -> typing.Any:
    try:
        return response.json()[key]
    except (ValueError, TypeError, KeyError):
        raise errors.AnswerUnreadable(
            f'{response.url} did not answer as the service does that it should be: is '
            'the address right?', status=response.status_code) from None
