# SPDX-License-Identifier: Apache-2.0
"""All errors of the client, as one tree.

::

    ClientError
      BadValue               an invalid argument; no request was sent
      NotConfigured          options that select the cloud or the login are missing
      Ambiguous              a name that several objects have; ``ids`` lists them
      Unreachable            no response came
      ServiceMissing         the catalogue of the cloud does not have the service
      LeaseFailed            the lease cannot reach the status that was waited for
      WaitTimedOut           the lease did not reach the status in time
      AnswerUnreadable       a response that the service would not send
      HttpError              the service refused; the classes below are by status
        BadRequest           400
        NotAuthenticated     401
        Forbidden            403
        NotFound             404
        NotAcceptable        406   the service does not speak REST 1.1
        Conflict             409   too few resources are free, or the state forbids it
        StalePrecondition    412
        BodyTooLarge         413
        KeyReused            422
        TooManyRequests      429
        ServerError          5xx
          CloudFailed        502
          Overloaded         503
          NoAnswerInTime     504

Each has ``message``, ``status``, ``name``, ``request_id`` and ``details``. Without a response the
last four are None, None, None and {}. ``hint`` is the next step of a user of the commands, or None.
"""
from collections.abc import Mapping
from collections.abc import Sequence
import typing


class ClientError(Exception):
    """The root of all errors of this client; ``str()`` of it is the message, and then the hint."""

    def __init__(self, message: str, *, status: int | None = None, name: str | None = None,
                 request_id: str | None = None,
                 details: Mapping[str, typing.Any] | None = None,
                 hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.message = message
        self.status = status
        self.name = name
        self.request_id = request_id
        self.details = dict(details or {})
        self.retry_after_seconds: float | None = None

    def __str__(self) -> str:
        return f'{self.message}\nHint: {self.hint}' if self.hint else self.message


class BadValue(ClientError, ValueError):
    """An argument is invalid; the message says what is expected, with an example."""


class NotConfirmed(ClientError):
    """A user did not confirm that objects are lost; nothing was changed."""


class NotConfigured(ClientError):
    """Options are missing; the message names them."""


class Ambiguous(ClientError):
    def __init__(self, message: str, ids: Sequence[str]) -> None:
        super().__init__(message, details={'ids': list(ids)})
        self.ids = list(ids)


class Unreachable(ClientError):
    """The service did not respond; it may have carried out the request."""


class ServiceMissing(ClientError):
    """The login works, but the URL of the service is unknown; the message names the options."""


class LeaseFailed(ClientError):
    """A lease cannot reach a status; ``lease`` is its last known record, or None."""

    def __init__(self, message: str, lease: Mapping[str, typing.Any] | None) -> None:
        super().__init__(message)
        self.lease = lease


class WaitTimedOut(ClientError):
    """A lease did not reach a status in time; ``lease`` is its last known record, or None."""

    def __init__(self, message: str, lease: Mapping[str, typing.Any] | None) -> None:
        super().__init__(message)
        self.lease = lease


class AnswerUnreadable(ClientError):
    """The server at this URL does not respond like a reservation service."""


class HttpError(ClientError):
    """The service refused the request; ``status`` is the HTTP status."""


class BadRequest(HttpError):
    pass


class NotAuthenticated(HttpError):
    pass


class Forbidden(HttpError):
    pass


class NotFound(HttpError):
    pass


class NotAcceptable(HttpError):
    pass


class Conflict(HttpError):
    pass


class StalePrecondition(HttpError):
    pass


class BodyTooLarge(HttpError):
    pass


class KeyReused(HttpError):
    pass


class TooManyRequests(HttpError):
    pass


class ServerError(HttpError):
    pass


class CloudFailed(ServerError):
    pass


class Overloaded(ServerError):
    pass


class NoAnswerInTime(ServerError):
    pass


_BY_STATUS: dict[int, type[HttpError]] = {
    400: BadRequest,
    401: NotAuthenticated,
    403: Forbidden,
    404: NotFound,
    406: NotAcceptable,
    409: Conflict,
    412: StalePrecondition,
    413: BodyTooLarge,
    422: KeyReused,
    429: TooManyRequests,
    502: CloudFailed,
    503: Overloaded,
    504: NoAnswerInTime,
}


def class_of(status: int) -> type[HttpError]:
    """Return the error class of an HTTP status; HttpError for a 4xx without its own class."""
    return _BY_STATUS.get(status, ServerError if status >= 500 else HttpError)
